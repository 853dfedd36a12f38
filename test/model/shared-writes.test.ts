import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { sql, type Transaction } from 'kysely';
import t from 'tap';
import type { DB } from '../../generated/database.ts';
import { openDatabase } from '../../src/db/database.ts';
import type { Api, ApiResponse } from '../support/api.ts';
import { type Event, followEvents, listAllEvents } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { makeCategory, makeItem, makeLocation, makeMenu } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

/*
 * Random rounds of calls at once on a few items, by three clients at two processes, while another connection holds a
 * lock and backends are terminated. The model is what the events tell: each item goes through its versions one by one, flips when it is
 * toggled, has the fields that it was given, and each call that was answered 200 is told of once, as it was answered. A
 * failure prints the seed; MODEL_SEED runs the same rounds again, although not with the same timing.
 */

const seconds = 12;
const seed = Number(process.env['MODEL_SEED'] ?? Date.now() % 2_147_483_647);

const kinds = [
  'toggle',
  'toggle',
  'toggle',
  'toggle',
  'guarded toggle',
  'keyed toggle',
  'update',
  'update',
  'update',
  'describing update',
  'switching update',
  'moving update',
  'guarded update',
  'read',
  'set',
  'several set',
  'several set',
  'delete',
] as const;
type Kind = (typeof kinds)[number];

interface Round {
  calls: { kind: Kind; place: number }[];
  /** What another connection holds meanwhile. */
  locked: 'nothing' | 'item' | 'menu' | 'location';
  /** Whether a backend whose shared statement waits for the lock is terminated. */
  kills: boolean;
}

const rounds = fc.record<Round>({
  calls: fc.array(fc.record({ kind: fc.constantFrom(...kinds), place: fc.nat(5) }), {
    minLength: 12,
    maxLength: 40,
    size: 'max',
  }),
  locked: fc.constantFrom('nothing', 'item', 'menu', 'location'),
  kills: fc.boolean(),
});

interface Item {
  item_id: number;
  menu_id: number;
  location_id: number;
  is_available: boolean;
  price: number;
  name: string;
  external_id: string | null;
  version: number;
  path: string;
}

const seenFields = ['is_available', 'price', 'name', 'external_id'] as const;

/** What the model knows of an item. */
function pick({ version, ...item }: Pick<Item, 'version' | (typeof seenFields)[number]>): object {
  return { version, ...Object.fromEntries(seenFields.map((field) => [field, item[field]])) };
}

interface Made {
  kind: Kind;
  item: Item;
  /** The items that it names. */
  named: Item[];
  id: string;
  /** What an update says. */
  fields: object;
  response: Promise<ApiResponse>;
}

t.test(`concurrent writes leave what the same writes one by one would (MODEL_SEED=${seed})`, async (t) => {
  const service = await startTestService(t, { pool: { max: 20 } });
  const { api, connection } = service;
  const friend = await service.client();
  const { api: elsewhere } = await startTestService(t, { connection, pool: { max: 20 } });
  const database = openDatabase(connection, { max: 6 });
  t.teardown(() => database.destroy());
  const log = await followEvents(database);
  const { location_id } = await makeLocation(api);
  const menus = [await makeMenu(api, location_id), await makeMenu(api, location_id)];
  const categories = await Promise.all(menus.map(({ menu_id }) => makeCategory(api, menu_id)));
  const newItem = async (place: number): Promise<Item> => {
    const item = await makeItem(api, categories[place % 2]);
    return { ...item, location_id, path: `/menus/${item.menu_id}/items/${item.item_id}` };
  };
  const items: Item[] = [];
  for (let place = 0; place < 6; place += 1) items.push(await newItem(place));
  await log.next();
  let number = 0;
  const tags = new Map<string, string>();
  const seen = { 200: 0, 412: 0, 503: 0, killed: 0 };

  const make = ({ kind, place }: Round['calls'][number], tag: string): Made => {
    const item = items[place] as Item;
    const id = `call-${number}`;
    const at = [elsewhere, api, friend][number % 3] as Api;
    number += 1;
    // Few prices, so that some updates change nothing.
    const fields = {
      update: { price: 1 + (number % 7) },
      'guarded update': { price: number },
      'describing update': { name: `Item ${number}`, description: id },
      'switching update': { price: number, is_available: number % 4 < 2 },
      'moving update': { price: number, external_id: `${item.item_id}-${number}` },
    }[kind as string];
    const send = (method: string, path: string, json?: object) =>
      at.call(method, path, {
        headers: {
          'x-request-id': id,
          ...(kind.startsWith('guarded') && { 'if-match': tag }),
          ...(kind.startsWith('keyed') && { 'idempotency-key': id }),
        },
        ...(json && { json }),
      });
    // The others of its menu are named by turns, each by the name that it has.
    const named = items.filter(
      (one, index) =>
        one === item || (kind === 'several set' && one.menu_id === item.menu_id && (number >> index) % 2),
    );
    const switched = {
      items: named.map(({ item_id, external_id }, index) => ({
        ...(external_id && number % 3 === 1 ? { external_id } : { item_id }),
        is_available: (number + index) % 2 === 0,
      })),
    };
    const response = {
      toggle: () => send('POST', `${item.path}/toggle`),
      update: () => send('PUT', item.path, fields),
      read: () => send('GET', item.path),
      set: () => send('POST', `/menus/${item.menu_id}/availability`, switched),
      delete: () => send('DELETE', item.path),
    }[kind.split(' ').at(-1) as 'toggle' | 'update' | 'read' | 'set' | 'delete']();
    return { kind, item, named, id, fields: fields ?? {}, response };
  };

  const run = async (round: Round) => {
    const target = items[round.calls[0]?.place ?? 0] as Item;
    // A call that sets several items may hold some while it waits for another: not in every round.
    const setsSeveral = round.locked !== 'item' || round.kills;
    // 503 is for who waited in vain, so for nobody else.
    const isHeld = ({ item, kind }: Pick<Made, 'item' | 'kind'>) =>
      ({
        nothing: false,
        item: setsSeveral ? item.menu_id === target.menu_id : item === target,
        menu: item.menu_id === target.menu_id,
        location: kind.endsWith('update'),
      })[round.locked];
    // Other updates may find that there is nothing to do, and other items may be free.
    const waits = round.locked === 'location' ? /^(describing|switching|moving) / : /toggle$/;
    const surelyWaits = ({ item, kind }: Pick<Made, 'item' | 'kind'>) =>
      isHeld({ item, kind }) && waits.test(kind) && (round.locked !== 'item' || item === target);
    for (const item of items) tags.set(item.path, String((await api.get(item.path)).headers['etag']));
    // A process has connections for as many as may wait.
    const planned =
      round.locked === 'nothing'
        ? round.calls
        : round.calls
            .filter(({ kind }) => kind !== 'delete' && (setsSeveral || kind !== 'several set'))
            .slice(0, 24);
    const begin = () => planned.map((call) => make(call, tags.get((items[call.place] as Item).path) ?? ''));
    const before = new Map(items.map((item) => [item.item_id, { ...item }]));
    const versions = await contentVersions();
    const made =
      round.locked === 'nothing'
        ? begin()
        : await whileLocked(target, round.locked, async () => {
            const begun = begin();
            if (begun.some(surelyWaits))
              await eventually('somebody waits', async () => (await waiting()) > 0);
            if (round.kills) seen.killed += await kill();
            // Whoever wants nothing that is locked is not held up.
            await Promise.all(begun.filter((call) => !isHeld(call)).map(({ response }) => response));
            return begun;
          });
    const responses = await Promise.all(
      made.map(async (call) => ({ ...call, response: await call.response })),
    );
    await check(round, responses, before, versions, isHeld);
    for (const [place, item] of items.entries())
      if (
        responses.some((call) => call.kind === 'delete' && call.item === item && call.response.status === 204)
      )
        items[place] = await newItem(place);
    await log.next();
  };

  const check = async (
    round: Round,
    responses: (Omit<Made, 'response'> & { response: ApiResponse })[],
    before: Map<number, Item>,
    versions: Map<number, number>,
    isHeld: (call: Pick<Made, 'item' | 'kind'>) => boolean,
  ) => {
    const what = JSON.stringify(round);
    const events = await log.next();
    const told = new Map<string, Event[]>();
    for (const event of events)
      told.set(event['request_id'], [...(told.get(event['request_id']) ?? []), event]);
    for (const { kind, item, named, id, fields, response } of responses) {
      const { status, body } = response;
      const isFair =
        status === 200 ||
        status === 204 ||
        (status === 412 && kind.startsWith('guarded')) ||
        (status === 404 && responses.some((one) => one.kind === 'delete' && one.item === item)) ||
        (status === 503 && isHeld({ item, kind }));
      if (!isFair) t.fail(`${kind} got ${status} in ${what}`);
      if (status in seen) seen[status as 200] += 1;
      const own = told.get(id) ?? [];
      if (kind.endsWith('toggle') && status !== 503) {
        const expected = status === 200 ? [['item.toggled', body.data]] : [];
        const found = own.map(({ type, data }) => [type, data]);
        if (JSON.stringify(found) !== JSON.stringify(expected)) t.strictSame(found, expected, what);
      }
      if (kind.endsWith('update') && status !== 503) {
        if (status !== 200 && own.length > 0) t.fail(`${status} with events in ${what}`);
        const shown = [body.data, ...own.map(({ data }) => data)].map((data) => JSON.stringify(data));
        if (new Set(shown).size > 1) t.fail(`${shown} in ${what}`);
        if (status === 200 && !isDeepStrictEqual({ ...body.data, ...fields }, body.data))
          t.match(body.data, fields, what);
      }
      if (kind.endsWith('set') && status === 200) {
        const changed = body.data.filter(({ result }: { result: string }) => result === 'changed');
        const found = own.map(({ data }) => JSON.stringify(data)).sort();
        const expected = changed.map(({ item }: { item: object }) => JSON.stringify(item)).sort();
        if (body.data.length !== named.length) t.fail(`${body.data.length} results in ${what}`);
        if (`${found}` !== `${expected}`) t.strictSame(found, expected, what);
      }
      if (kind.match(/toggle|update/) && status === 200) {
        const tag = String(response.headers['etag']);
        if (!tag.startsWith(`"${body.data.version}-`)) t.fail(`${tag} of version ${body.data.version}`);
      }
    }
    const guarded = Object.groupBy(
      responses.filter(({ kind, response }) => kind.startsWith('guarded') && response.status === 200),
      ({ item }) => item.path,
    );
    for (const [path, won] of Object.entries(guarded))
      if (won && won.length > 1) t.fail(`${path} matched twice`);
    // A call changes its menu once, however many items it sets.
    const changes = Map.groupBy(
      new Map(events.map(({ request_id, menu_id }) => [`${request_id} ${menu_id}`, menu_id])).values(),
      (menu_id) => menu_id,
    );
    // An update that also switches has two events of one version.
    const alike = Map.groupBy(events, ({ request_id, data }) => `${request_id} ${data.item_id}`);
    for (const ofOne of alike.values()) {
      const [{ type, data, previous }] = ofOne as [Event];
      const item = before.get(data.item_id);
      if (!item) continue;
      if (type === 'item.deleted') continue;
      if (data.version !== item.version + 1)
        t.fail(`version ${data.version} after ${item.version} in ${what}`);
      const differing = seenFields.filter((field) => data[field] !== item[field]);
      const types = [
        ...(differing.includes('is_available') ? ['item.toggled'] : []),
        ...(differing.some((field) => field !== 'is_available') ? ['item.updated'] : []),
      ];
      const told = ofOne.map(({ type }) => type);
      if (`${told}` !== `${types}`) t.fail(`${told} for ${differing} in ${what}`);
      for (const field of differing)
        if (previous[field] !== item[field]) t.fail(`previous ${field} of ${data.version} in ${what}`);
      Object.assign(item, pick(data));
    }
    for (const item of items) {
      const known = before.get(item.item_id) as Item;
      Object.assign(item, pick(known));
      const { status, body } = await api.get(item.path);
      if (status === 404) continue;
      if (!isDeepStrictEqual(pick(body.data), pick(known))) t.strictSame(pick(body.data), pick(known), what);
    }
    for (const [menu_id, version] of await contentVersions()) {
      const expected = (versions.get(menu_id) ?? 0) + (changes.get(menu_id)?.length ?? 0);
      if (version !== expected) t.equal(version, expected, `content_version of menu ${menu_id} in ${what}`);
    }
  };

  const contentVersions = async () => {
    const found = await database
      .selectFrom('menu')
      .select(['menu_id', 'content_version'])
      .where(
        'menu_id',
        'in',
        menus.map(({ menu_id }) => menu_id),
      )
      .execute();
    return new Map(found.map(({ menu_id, content_version }) => [menu_id, content_version]));
  };
  const whileLocked = <T>(item: Item, what: 'item' | 'menu' | 'location', work: () => Promise<T>) =>
    database.transaction().execute(async (transaction: Transaction<DB>) => {
      await sql`select from ${sql.table(what)} where ${sql.ref(`${what}_id`)} = ${item[`${what}_id`]} for update`.execute(
        transaction,
      );
      return work();
    });
  const waiting = async () => {
    const { rows } = await sql`select from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database()`.execute(database);
    return rows.length;
  };
  const kill = async () => {
    const { rows } = await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database() and query ~ 'over \\(partition by item_id, menu_id|json_to_recordset'
        and pid <> pg_backend_pid()`.execute(database);
    return rows.length;
  };

  const deadline = performance.now() + seconds * 1_000;
  let done = 0;
  for (const round of fc.sample(rounds, { seed, numRuns: 1_000 })) {
    if (performance.now() > deadline && done >= 10 && seen.killed > 0) break;
    await run(round);
    done += 1;
  }
  const { rows: shared } = await sql<{ events: number }>`
    select count(*)::int as events from (select from event group by xmin having count(*) > 1) as together`.execute(
    database,
  );
  t.comment(`${done} rounds; ${JSON.stringify(seen)}; ${shared[0]?.events} statements were shared`);
  t.ok(seen[200] > 50, 'most calls got through');
  t.ok(seen.killed > 0, 'backends were terminated');
  t.ok((shared[0]?.events ?? 0) > 5, 'calls shared statements');

  await listAllEvents(database);
  const { rows: feed } = await sql<{ gap: boolean; disorder: boolean }>`
    select position <> lag(position, 1, position - 1) over (order by position) + 1 as gap,
      event_id < lag(event_id) over (partition by record order by position) as disorder
    from feed where account_id = ${api.credentials.account_id}`.execute(database);
  t.ok(feed.length > 100);
  t.notOk(
    feed.some(({ gap }) => gap),
    'positions have no gap',
  );
  t.notOk(
    feed.some(({ disorder }) => disorder),
    'and the events of a record are in their order',
  );
});
