import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { WatchedClient } from '../../src/db/client.ts';
import type { Database } from '../../src/db/database.ts';
import { statementName } from '../../src/db/statement-names.ts';
import type { Api, ApiResponse } from '../support/api.ts';
import { followEvents } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { makeCategory, makeItem, makeLocation, makeMenu, makeModifierGroup } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

interface Modifier {
  modifier_id: number;
  modifier_group_id: number;
  location_id: number;
  menu_id: number;
  path: string;
}

t.test('concurrent toggles share statements, and leave what the same toggles one by one would', async (t) => {
  const { api, database, app, modifiers } = await startWithModifiers(t, 4, 4);
  const log = await followEvents(database);
  // The group names a menu that is gone.
  const gone = await makeMenu(api, modifiers[0]?.location_id ?? 0);
  const { item_id } = await makeItem(api, await makeCategory(api, gone.menu_id));
  await api.put(`/menus/${gone.menu_id}/items/${item_id}/modifier-groups`, {
    modifier_groups: [{ modifier_group_id: modifiers[0]?.modifier_group_id }],
  });
  t.equal((await api.delete(`/menus/${gone.menu_id}`)).status, 204);
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const [planned] = modifiers as [Modifier, ...Modifier[]];
  await api.put(planned.path, { unavailable_until: until });
  await log.next();
  const [versions, groupVersions] = [
    await contentVersions(database, 'menu'),
    await contentVersions(database, 'modifier_group'),
  ];
  const statements = t.capture(WatchedClient.prototype, 'query', WatchedClient.prototype.query);
  const calls = [...modifiers, ...modifiers, ...modifiers.slice(0, 3)];
  let arrived = 0;
  app.server.on('request', () => {
    arrived += 1;
  });
  // What comes while the first two are held up comes together.
  const begun = await database.transaction().execute(async (transaction) => {
    await sql`lock table modifier in access exclusive mode`.execute(transaction);
    const begun = calls.map(({ path }) => api.post(`${path}/toggle`));
    await eventually('all have arrived', async () => arrived >= calls.length);
    await api.get('/locations');
    await eventually('two wait', async () => (await waiting(database)) === 2);
    return begun;
  });
  const responses = await Promise.all(begun);
  t.same(statusesOf(responses), [200]);
  const names = statements()
    .map(({ args: [text] }) => statementName(String(text)) ?? '')
    .filter((name) => name.startsWith('modifierGroups.toggle'));
  t.ok(names.includes('modifierGroups.toggleModifiers'));
  // Three, and some more where the first are still at work in a group or menu of the others.
  t.ok(names.length <= 12, `${calls.length} toggles took ${names}`);

  const events = await log.next();
  t.equal(events.length, calls.length);
  const byRequest = new Map(events.map((event) => [event['request_id'], event]));
  for (const { headers, body } of responses) {
    const event = byRequest.get(headers['x-request-id']);
    t.same(event?.['data'], body.data, 'each response is that of its event');
    t.equal(event?.['type'], 'modifier.toggled');
  }
  for (const { modifier_id, path } of modifiers) {
    const own = events.filter(({ data }) => data.modifier_id === modifier_id);
    const first = modifier_id === planned.modifier_id ? 3 : 2;
    t.same(
      own.map(({ data }) => data.version),
      own.map((_, turn) => first + turn),
    );
    const wasOn = modifier_id !== planned.modifier_id;
    t.same(
      own.map(({ data, previous }) => [data.is_available, previous.is_available]),
      own.map((_, turn) => (wasOn === (turn % 2 === 0) ? [false, true] : [true, false])),
    );
    t.equal(own[0]?.['previous'].unavailable_until, wasOn ? undefined : until, 'a return is given up once');
    for (const { data } of own) t.equal(data.unavailable_by === null, data.is_available);
    const now = await api.get(path);
    t.same(now.body.data, own.at(-1)?.['data']);
    const last = responses.findLast(
      ({ body }) => body.data.version === now.body.data.version && body.data.modifier_id === modifier_id,
    );
    t.equal(now.headers['etag'], last?.headers['etag']);
  }
  for (const [kind, before] of [
    ['menu', versions],
    ['modifier_group', groupVersions],
  ] as const)
    for (const [id, version] of await contentVersions(database, kind)) {
      const inside = calls.filter((call) => call[`${kind}_id`] === id).length;
      t.ok(version > (before.get(id) ?? 0), `${kind} ${id} has changed`);
      t.ok(version - (before.get(id) ?? 0) <= inside, 'once for each toggle at most');
    }
});

for (const locked of ['modifier', 'modifier_group', 'menu'] as const) {
  t.test(`a call that needs no locked ${locked} is not held up by one`, async (t) => {
    const { api, database, modifiers } = await startWithModifiers(t, 3, 4);
    const log = await followEvents(database);
    const [target] = modifiers as [Modifier, ...Modifier[]];
    const isHeld = (one: Modifier) => one[`${locked}_id`] === target[`${locked}_id`];
    const calls = [target, ...modifiers, ...modifiers];
    const held = await database.transaction().execute(async (transaction) => {
      await sql`select from ${sql.table(locked)} where ${sql.ref(`${locked}_id`)} = ${target[`${locked}_id`]}
        for update`.execute(transaction);
      // The first goes its direct way, and waits for as long as the lock is held.
      const begun = calls.map((one) => ({ one, response: api.post(`${one.path}/toggle`) }));
      const others = begun.filter(({ one }) => !isHeld(one)).map(({ response }) => response);
      t.same(statusesOf(await Promise.all(others)), [200], `${others.length} went on`);
      await eventually('the others wait', async () => (await waiting(database)) > 0);
      return begun.filter(({ one }) => isHeld(one)).map(({ response }) => response);
    });
    t.same(statusesOf(await Promise.all(held)), [200]);
    t.equal((await log.next()).length, calls.length);
    for (const { path } of modifiers.slice(1)) t.equal((await api.get(path)).body.data.version, 3);
    t.equal((await api.get(target.path)).body.data.version, 4);
  });
}

t.test('each call has the grant of its own caller, and the accounts do not mix', async (t) => {
  const { api, client, modifiers } = await startWithModifiers(t, 2, 3);
  const [first, second] = [modifiers[0], modifiers[3]] as [Modifier, Modifier];
  const at = async ({ location_id }: Modifier) => client({ locations: [location_id] });
  const callers: [Api, (one: Modifier) => number][] = [
    [api, () => 200],
    [await at(first), ({ location_id }) => (location_id === first.location_id ? 200 : 403)],
    [await at(second), ({ location_id }) => (location_id === second.location_id ? 200 : 403)],
    [await client({ account: 'Another' }), () => 403],
  ];
  const calls = modifiers.flatMap((one) =>
    callers.flatMap(([caller, expected]) => [
      { sent: caller.post(`${one.path}/toggle`), expected: expected(one) },
      { sent: caller.post(`${one.path.replace(/\d+$/, '999999')}/toggle`), expected: 404 },
      {
        sent: caller.post(`${one.path.replace(/modifier-groups\/\d+/, 'modifier-groups/999999')}/toggle`),
        expected: 404,
      },
    ]),
  );
  const responses = await Promise.all(calls.map(({ sent }) => sent));
  t.strictSame(
    responses.map(({ status }) => status),
    calls.map(({ expected }) => expected),
  );
  for (const { path } of modifiers)
    t.equal((await api.get(path)).body.data.version, 3, 'two might toggle it');
});

/** A service with so many locations, each with a menu whose item offers a group of so many modifiers. */
async function startWithModifiers(t: Test, locations: number, each: number) {
  const service = await startTestService(t, { pool: { max: 20 } });
  const { api } = service;
  const modifiers: Modifier[] = [];
  for (let place = 0; place < locations; place += 1) {
    const { location_id } = await makeLocation(api);
    const { menu_id } = await makeMenu(api, location_id);
    const { item_id } = await makeItem(api, await makeCategory(api, menu_id));
    const names = Array.from({ length: each }, (_, n) => ({ name: `M${n}` }));
    const group = await makeModifierGroup(api, location_id, { modifiers: names });
    const { modifier_group_id } = group;
    await api.put(`/menus/${menu_id}/items/${item_id}/modifier-groups`, {
      modifier_groups: [{ modifier_group_id }],
    });
    for (const { modifier_id } of group.modifiers) {
      const path = `/locations/${location_id}/modifier-groups/${modifier_group_id}/modifiers/${modifier_id}`;
      modifiers.push({ modifier_id, modifier_group_id, location_id, menu_id, path });
    }
  }
  const known = new Set(modifiers.map(({ menu_id }) => menu_id));
  t.ok(known.size === locations);
  return { ...service, modifiers };
}

/** By id, of the menus or groups that hold modifiers of this test. */
async function contentVersions(
  database: Database,
  table: 'menu' | 'modifier_group',
): Promise<Map<number, number>> {
  const { rows } = await sql<{ id: number; content_version: number }>`
    select ${sql.ref(`${table}_id`)} as id, content_version from ${sql.table(table)}
    where location_id in (
      select location_id from modifier_group join modifier using (modifier_group_id, location_id)
      where modifier.name = 'M0')`.execute(database);
  return new Map(rows.map(({ id, content_version }) => [id, content_version]));
}

async function waiting(database: Database): Promise<number> {
  const { rows } = await sql`select from pg_stat_activity
    where wait_event_type = 'Lock' and datname = current_database()`.execute(database);
  return rows.length;
}

function statusesOf(responses: ApiResponse[]): number[] {
  return [...new Set(responses.map(({ status }) => status))];
}
