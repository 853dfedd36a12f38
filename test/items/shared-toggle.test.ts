import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { request } from 'undici';
import { WatchedClient } from '../../src/db/client.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { statementName } from '../../src/db/statement-names.ts';
import type { Api, ApiResponse } from '../support/api.ts';
import { followEvents } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { makeCategory, makeItem, makeLocation, makeMenu } from '../support/records.ts';
import { startTestService, type TestServiceOptions } from '../support/service.ts';

/*
 * Calls at once share statements. What they leave is shown by test/model/shared-toggles.test.ts; here, when they share
 * one, and that what befalls one call is not the matter of the others.
 */

interface Item {
  item_id: number;
  menu_id: number;
  path: string;
}

t.test('one call alone goes its direct way, and calls at once share statements', async (t) => {
  const { api, app, database, items } = await startWithItems(t, 4, 16);
  const named = t.capture(WatchedClient.prototype, 'query', WatchedClient.prototype.query);
  const executed = () =>
    named()
      .map(({ args: [text] }) => statementName(String(text)) ?? '')
      .filter((name) => /^items\.(toggleItem|getItem)/.test(name));
  const alone: ApiResponse[] = [];
  for (const { path } of items.slice(0, 3)) {
    alone.push(await api.post(`${path}/toggle`));
    await api.get(path);
  }
  t.same(executed(), Array(3).fill(['items.toggleItem', 'items.getItem']).flat());

  // What comes while the first two are held up comes together.
  const atOnce = async (call: (path: string) => Promise<ApiResponse>) => {
    let arrived = 0;
    const count = () => {
      arrived += 1;
    };
    app.server.on('request', count);
    const responses = await database.transaction().execute(async (transaction) => {
      await sql`lock table item in access exclusive mode`.execute(transaction);
      const begun = items.map(({ path }) => call(path));
      await eventually('all have arrived', async () => arrived >= items.length);
      // Authenticated as those before it, and served after them.
      await api.get('/locations');
      await eventually('two wait', async () => (await waitingBackends(database)).length === 2);
      return begun;
    });
    app.server.off('request', count);
    return Promise.all(responses);
  };
  const toggled = await atOnce((path) => api.post(`${path}/toggle`));
  t.same(statusesOf(toggled), [200]);
  // Three, and some more where the first are still at work in a menu of the others.
  const writes = executed();
  t.ok(writes.length <= 8, `${items.length} toggles took ${writes}`);
  t.ok(writes.includes('items.toggleItems'));
  t.same(
    new Set(toggled.slice(3).map(({ body }) => JSON.stringify(looks(body.data)))),
    new Set(alone.map(({ body }) => JSON.stringify(looks(body.data)))),
    'what is toggled together looks as what is toggled alone',
  );
  const read = await atOnce((path) => api.get(path));
  t.same(
    read.map(({ headers, body }) => [headers['etag'], body]),
    toggled.map(({ headers, body }) => [headers['etag'], body]),
    'and each gets its own',
  );
  t.same(executed(), ['items.getItem', 'items.getItem.several', 'items.getItem.several']);
});

for (const locked of ['item', 'menu'] as const) {
  t.test(`whoever wants no locked ${locked} is not held up by one`, async (t) => {
    const { api, database, items } = await startWithItems(t, 4, 6);
    const log = await followEvents(database);
    const [target] = items as [Item, ...Item[]];
    const isHeld = (item: Item) => (locked === 'item' ? item === target : item.menu_id === target.menu_id);
    const calls = [target, ...items, ...items];
    const held = await whileLocked(database, locked, target, async () => {
      // The first goes its direct way, and waits for as long as the lock is held.
      const begun = calls.map((item) => ({ item, response: api.post(`${item.path}/toggle`) }));
      const others = await Promise.all(
        begun.filter(({ item }) => !isHeld(item)).map(({ response }) => response),
      );
      t.same(statusesOf(others), [200], `${others.length} went on`);
      await eventually('the others wait', async () => (await waitingBackends(database)).length > 0);
      return begun.filter(({ item }) => isHeld(item)).map(({ response }) => response);
    });
    t.same(statusesOf(await Promise.all(held)), [200]);
    t.equal((await log.next()).length, calls.length);
    for (const { path } of items.slice(1)) t.equal((await api.get(path)).body.data.version, 3);
    t.equal((await api.get(target.path)).body.data.version, 4);
  });
}

t.test('what fails fails alone', async (t) => {
  const { api, url, database, items } = await startWithItems(t, 2, 12);
  const log = await followEvents(database);
  const poisoned = items[13] as Item;
  await sql`create function refuse() returns trigger language plpgsql as
    $$ begin raise exception 'refused'; end $$`.execute(database);
  await sql`create trigger refuse before insert on event for each row
    when (new.record = ${sql.lit(`item:${poisoned.item_id}`)}) execute function refuse()`.execute(database);
  // Not by the client that expects what the contract documents.
  const authorization = `Bearer ${await api.token()}`;
  const statuses = await Promise.all(
    items.map(async ({ path }) => {
      const { statusCode, body } = await request(`${url}/api/v1${path}/toggle`, {
        method: 'POST',
        headers: { authorization },
      });
      await body.dump();
      return statusCode;
    }),
  );
  for (const [place, item] of items.entries()) {
    t.equal(statuses[place], item === poisoned ? 500 : 200);
    t.equal((await api.get(item.path)).body.data.version, item === poisoned ? 1 : 2);
  }
  t.equal((await log.next()).length, items.length - 1);
});

t.test(
  'a backend that is terminated takes nothing with it that was answered, and does nothing twice',
  async (t) => {
    const { api, database, items } = await startWithItems(t, 2, 8);
    const log = await followEvents(database);
    const [target] = items as [Item, ...Item[]];
    const begun = await whileLocked(database, 'menu', target, async () => {
      const begun = items.map(({ path }) => api.post(`${path}/toggle`));
      const pids = await eventually('a shared statement waits', async () => {
        const found = await waitingBackends(database, 'over (partition by item_id, menu_id');
        return found.length > 0 && found;
      });
      await sql`select pg_terminate_backend(pid) from unnest(${pids}::int[]) as pid`.execute(database);
      return begun;
    });
    const responses = await Promise.all(begun);
    const events = await log.next();
    const answered = responses.filter(({ status }) => status === 200);
    t.ok(answered.length >= 9, 'those of the other menu, and the one that went its direct way');
    t.same(
      responses.map(({ status }) => status).filter((status) => ![200, 503].includes(status)),
      [],
    );
    t.strictSame(
      events.map(({ request_id }) => request_id).sort(),
      answered.map(({ headers }) => headers['x-request-id']).sort(),
      'each answered call has its event, and no other call has one',
    );
  },
);

t.test('a statement that takes too long is the matter of those who wait for the same', async (t) => {
  const connect: TestServiceOptions['connect'] = async (connection) => ({
    ...connection,
    statement_timeout: 400,
  });
  const { api, connection, items } = await startWithItems(t, 2, 8, { connect });
  const database = openDatabase(connection, { max: 3 });
  t.teardown(() => database.destroy());
  const [target] = items as [Item, ...Item[]];
  const responses = await whileLocked(database, 'menu', target, () =>
    Promise.all(items.map(({ path }) => api.post(`${path}/toggle`))),
  );
  for (const [place, { menu_id }] of items.entries())
    t.equal(responses[place]?.status, menu_id === target.menu_id ? 503 : 200);
  for (const { path, menu_id } of items)
    t.equal((await api.get(path)).body.data.version, menu_id === target.menu_id ? 1 : 2);
});

t.test('each call has the grant of its own caller, and the accounts do not mix', async (t) => {
  const { api, client, items } = await startWithItems(t, 2, 4);
  const [first, second] = await Promise.all(
    [items[0], items[4]].map(async (item) => (await api.get(`/menus/${item?.menu_id}`)).body.data),
  );
  const callers: [Api, (item: Item) => number][] = [
    [api, () => 200],
    [
      await client({ locations: [first.location_id] }),
      ({ menu_id }) => (menu_id === first.menu_id ? 200 : 403),
    ],
    [
      await client({ locations: [second.location_id] }),
      ({ menu_id }) => (menu_id === second.menu_id ? 200 : 403),
    ],
    [await client({ account: 'Another' }), () => 403],
  ];
  const calls = items.flatMap((item) =>
    callers.flatMap(([api, expected]) => [
      { sent: api.get(item.path), expected: expected(item) },
      { sent: api.post(`${item.path}/toggle`), expected: expected(item) },
      { sent: api.get(`/menus/${item.menu_id}`), expected: expected(item) },
      { sent: api.post(`/menus/${item.menu_id}/items/999999/toggle`), expected: 404 },
      { sent: api.get(`/menus/999999/items/${item.item_id}`), expected: 404 },
    ]),
  );
  const responses = await Promise.all(calls.map(({ sent }) => sent));
  t.strictSame(
    responses.map(({ status }) => status),
    calls.map(({ expected }) => expected),
  );
  for (const { path } of items) t.equal((await api.get(path)).body.data.version, 3, 'two might toggle it');
});

/** A resource without what differs from one item to the next, and from one moment to the next. */
function looks(item: Record<string, unknown>): Record<string, unknown> {
  const own = /_id$|sort_order|created|_at$|_since$/;
  return Object.fromEntries(
    Object.entries(item).map(([field, value]) => [field, own.test(field) && value !== null ? '…' : value]),
  );
}

/** A service with so many menus, each at a location of its own, of so many items. */
async function startWithItems(t: Test, menus: number, each: number, options: TestServiceOptions = {}) {
  const service = await startTestService(t, { pool: { max: 20 }, ...options });
  const { api } = service;
  const items: Item[] = [];
  for (let menu = 0; menu < menus; menu += 1) {
    const { location_id } = await makeLocation(api);
    const category = await makeCategory(api, (await makeMenu(api, location_id)).menu_id);
    const made = await Promise.all(Array.from({ length: each }, () => makeItem(api, category)));
    for (const { item_id, menu_id } of made)
      items.push({ item_id, menu_id, path: `/menus/${menu_id}/items/${item_id}` });
  }
  return { ...service, items };
}

function whileLocked<T>(
  database: Database,
  what: 'item' | 'menu',
  item: Item,
  work: () => Promise<T>,
): Promise<T> {
  return database.transaction().execute(async (transaction) => {
    await sql`select from ${sql.table(what)} where ${sql.ref(`${what}_id`)} = ${item[`${what}_id`]}
      for update`.execute(transaction);
    return work();
  });
}

/** Process ids of the backends that wait for a lock, with a statement that mentions this. */
async function waitingBackends(database: Database, mention = ''): Promise<number[]> {
  const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity
    where wait_event_type = 'Lock' and datname = current_database() and query like ${`%${mention}%`}`.execute(
    database,
  );
  return rows.map(({ pid }) => pid);
}

function statusesOf(responses: ApiResponse[]): number[] {
  return [...new Set(responses.map(({ status }) => status))];
}
