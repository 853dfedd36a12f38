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
 * Calls at once share statements. What they leave is shown by test/model/shared-writes.test.ts; here, when they share
 * one, and that what befalls one call is not the matter of the others.
 */

interface Item {
  item_id: number;
  menu_id: number;
  location_id: number;
  path: string;
}

let price = 100;

interface Write {
  operation: string;
  request: (path: string) => { method: 'POST' | 'PUT'; path: string; json?: object };
  /** What the response shows of the item. */
  shown: (response: ApiResponse) => Record<string, unknown>;
  /** The status for an item that is not there, by that for the others in its menu. */
  missing: (status: number) => number;
  /** Its shared statement. */
  together: string;
  /** A read that is looked at beside it. */
  read: string;
  readPath: (item: Item) => string;
  locks: readonly ('item' | 'menu' | 'location')[];
  /** What the text of its shared statements mentions. */
  mention: string;
}

const writes: Write[] = [
  {
    operation: 'toggleItem',
    request: (path) => ({ method: 'POST', path: `${path}/toggle` }),
    shown: ({ body }) => body.data,
    missing: () => 404,
    together: 'items.toggleItems',
    read: 'getItem',
    readPath: ({ path }) => path,
    locks: ['item', 'menu'],
    mention: 'over (partition by item_id, menu_id',
  },
  {
    operation: 'updateItem',
    request: (path) => ({ method: 'PUT', path, json: newPrice() }),
    shown: ({ body }) => body.data,
    missing: () => 404,
    together: 'items.updateItems',
    read: 'getItemById',
    readPath: ({ item_id }) => `/items/${item_id}`,
    locks: ['item', 'menu', 'location'],
    mention: 'json_to_recordset',
  },
  {
    operation: 'setAvailability',
    request: (path) => {
      const [, menu_id, item_id] = path.match(/(\d+)\D+(\d+)/) ?? [];
      return {
        method: 'POST',
        path: `/menus/${menu_id}/availability`,
        json: { items: [{ item_id: Number(item_id), is_available: false, unavailable_until: newReturn() }] },
      };
    },
    shown: ({ body }) => body.data[0].item,
    missing: (status) => status,
    together: 'items.setAvailabilities',
    read: 'getItem',
    readPath: ({ path }) => path,
    locks: ['item', 'menu'],
    mention: 'json_to_recordset',
  },
];

function call(api: Api, { request }: Write, item: string): Promise<ApiResponse> {
  const { method, path, json } = request(item);
  return api.call(method, path, { json });
}

/** Another one each time, so that every update changes its item. */
function newPrice(): { price: number } {
  price += 1;
  return { price };
}

/** The same for what sets an item off. */
function newReturn(): string {
  return new Date(Date.now() + newPrice().price * 60_000).toISOString();
}

for (const write of writes) {
  const { operation, shown, together, read, readPath } = write;
  t.test(
    `one ${operation} or ${read} alone goes its direct way, and calls at once share statements`,
    async (t) => {
      const service = await startWithItems(t, 4, 16);
      const { api, items } = service;
      const named = t.capture(WatchedClient.prototype, 'query', WatchedClient.prototype.query);
      const executed = () =>
        named()
          .map(({ args: [text] }) => statementName(String(text)) ?? '')
          .filter((name) => /^items\.(toggleItem|updateItem|setAvailabilit|getItem)/.test(name));
      const alone: ApiResponse[] = [];
      for (const item of items.slice(0, 3)) {
        alone.push(await call(api, write, item.path));
        await api.get(readPath(item));
      }
      const each = [`items.${operation}`, `items.${read}`];
      t.same(executed(), [...each, ...each, ...each]);

      const written = await atOnce(service, items, ({ path }) => call(api, write, path));
      t.same(statusesOf(written), [200]);
      // Three, and some more where the first are still at work in a menu of the others.
      const names = executed();
      t.ok(names.length <= 8, `${items.length} calls took ${names}`);
      t.ok(names.includes(together));
      t.same(
        new Set(written.slice(3).map((response) => JSON.stringify(looks(shown(response))))),
        new Set(alone.map((response) => JSON.stringify(looks(shown(response))))),
        'what is written together looks as what is written alone',
      );
      const found = await atOnce(service, items, (item) => api.get(readPath(item)));
      t.same(
        found.map(({ body }) => body.data),
        written.map(shown),
        'and each gets its own',
      );
      for (const [place, { headers }] of written.entries())
        if (headers['etag']) t.equal(headers['etag'], found[place]?.headers['etag']);
      t.same(executed(), [`items.${read}`, `items.${read}.several`, `items.${read}.several`]);
    },
  );
}

t.test('updates that share a statement each have their own fields, conditions and refusals', async (t) => {
  const service = await startWithItems(t, 1, 16);
  const { api, database, items } = service;
  const path = (place: number) => (items[place] as Item).path;
  const tag = async (place: number) => String((await api.get(path(place))).headers['etag']);
  const { category_id, name } = (await api.get(path(0))).body.data;
  const menu_id = items[0]?.menu_id ?? 0;
  const other = await makeCategory(api, menu_id, { name: 'Maki' });
  await api.put(path(15), { external_id: 'taken' });
  const guarded = { headers: { 'if-match': await tag(3) } };
  const outdated = { headers: { 'if-match': await tag(4) } };
  await api.put(path(4), { price: 1 });
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const log = await followEvents(database);
  const calls: [
    body: object,
    status: number,
    shown: object,
    types: string[],
    place: number,
    options?: object,
  ][] = [
    [{ price: 7 }, 200, { price: 7, name, version: 2 }, ['item.updated'], 0],
    [
      { name: ' Tuna ', description: '"Raw", \\ é 寿司' },
      200,
      { name: 'Tuna', description: '"Raw", \\ é 寿司' },
      ['item.updated'],
      1,
    ],
    [{ price: 4.5 }, 200, { version: 1 }, [], 2],
    [{ price: 9 }, 200, { version: 2 }, ['item.updated'], 3, guarded],
    [{ price: 9 }, 412, {}, [], 4, outdated],
    [{ price: 1.001 }, 422, {}, [], 5],
    [{ category_id: other.category_id }, 200, { category_id: other.category_id }, ['item.updated'], 6],
    [{ category_id: 999_999 }, 422, {}, [], 7],
    [{ external_id: 'taken' }, 422, {}, [], 8],
    [
      { is_available: false, price: 2 },
      200,
      { is_available: false, price: 2 },
      ['item.toggled', 'item.updated'],
      9,
    ],
    [
      { unavailable_until: until },
      200,
      { is_available: false, unavailable_until: until },
      ['item.toggled'],
      10,
    ],
    [
      { allergens: ['fish', 'soy'], dietary_tags: [], photo_url: null, hours: null, sort_order: 3 },
      200,
      { allergens: ['fish', 'soy'], dietary_tags: [], photo_url: null, sort_order: 3, category_id },
      ['item.updated'],
      11,
    ],
    [
      { hours: { weekly: [{ days: ['mon'], from: '10:00', minutes: 120 }] } },
      200,
      { version: 2 },
      ['item.updated'],
      12,
    ],
    [{ external_id: 'free' }, 200, { external_id: 'free' }, ['item.updated'], 13],
    ...Array.from({ length: 5 }, () => [newPrice(), 200, {}, ['item.updated'], 14] as never),
  ];
  const responses = await atOnce(service, calls, ([body, , , , place, options]) =>
    api.put(path(place), body, options),
  );
  const events = await log.next();
  for (const [index, [body, status, shown, types]] of calls.entries()) {
    const response = responses[index] as ApiResponse;
    const what = JSON.stringify(body);
    t.equal(response.status, status, what);
    if (status === 200) t.match(response.body.data, shown, what);
    const own = events.filter(({ request_id }) => request_id === response.headers['x-request-id']);
    t.same(
      own.map(({ type, data }) => [type, data]),
      types.map((type) => [type, response.body.data]),
      `the events of ${what}`,
    );
  }
  t.same(
    responses
      .slice(-5)
      .map(({ body }) => body.data.version)
      .sort(),
    [2, 3, 4, 5, 6],
    'updates of one item have a version each',
  );
  t.equal((await api.get(path(9))).body.data.unavailable_by, api.credentials.client_id);
});

t.test('calls of setAvailability that share a statement each have their own rows and results', async (t) => {
  const service = await startWithItems(t, 3, 12);
  const { api, database, items } = service;
  const path = (place: number) => (items[place] as Item).path;
  const named = (place: number) => ({ item_id: (items[place] as Item).item_id });
  const off = { is_available: false };
  for (const place of [1, 13, 15]) await api.put(path(place), { external_id: 'EEL'.repeat(place) });
  await api.put(path(4), off);
  const seen = async (place: number) => (await api.get(path(place))).body.data;
  const before = await Promise.all(items.map((_, place) => seen(place)));
  const log = await followEvents(database);
  const executed = t.capture(WatchedClient.prototype, 'query', WatchedClient.prototype.query);
  const manyRows = Array.from({ length: 6 }, (_, place) => ({ ...named(25 + place), ...off }));
  const calls: [menu: number, rows: object[], results: string][] = [
    [0, [{ ...named(0), ...off }], 'changed'],
    [0, [{ external_id: 'EEL', ...off }], 'changed'],
    [
      0,
      [
        { ...named(2), ...off },
        { ...named(3), is_available: true },
        { ...named(4), ...off },
        { ...named(5), ...off, unavailable_until: newReturn() },
      ],
      'changed unchanged unchanged changed',
    ],
    [
      12,
      [
        { ...named(14), ...off },
        { external_id: 'EEL'.repeat(13), ...off },
      ],
      'changed changed',
    ],
    [
      12,
      [
        { ...named(16), is_available: true },
        { ...named(17), is_available: true },
      ],
      'unchanged unchanged',
    ],
    [
      0,
      [
        { ...named(6), ...off },
        { ...named(18), ...off },
        { external_id: 'NO-SUCH', ...off },
      ],
      'changed not_found not_found',
    ],
    [0, [{ ...named(19), ...off }], 'not_found'],
    [
      12,
      [
        { ...named(20), ...off },
        { ...named(15), ...off },
        { external_id: 'EEL'.repeat(15), ...off },
      ],
      'duplicate',
    ],
    [24, manyRows, 'changed '.repeat(6).trim()],
  ];
  const responses = await atOnce(service, calls, ([menu, rows]) =>
    api.post(`/menus/${items[menu]?.menu_id}/availability`, { items: rows }),
  );
  const names = executed().map(({ args: [text] }) => statementName(String(text)));
  const alone = names.filter((name) => name === 'items.setAvailability');
  t.equal(
    alone.length,
    5,
    'the first, those that find no item, the one that repeats one, and the one with many rows',
  );
  const events = await log.next();
  const written = new Set<number>();
  for (const [index, [, rows, results]] of calls.entries()) {
    const { status, body, headers } = responses[index] as ApiResponse;
    const what = JSON.stringify(rows);
    const own = events.filter(({ request_id }) => request_id === headers['x-request-id']);
    if (results === 'duplicate') {
      t.equal(status, 422, what);
      t.match(body.errors, [{ field: '/items/2', code: 'duplicate' }]);
      t.same(own, []);
      continue;
    }
    t.equal(status, 200, what);
    t.equal(body.data.map(({ result }: { result: string }) => result).join(' '), results, what);
    const changed: Item[] = [];
    for (const [place, { item, ...found }] of body.data.entries()) {
      t.same(Object.keys(body.data[place]), ['item_id', 'external_id', 'result', 'item']);
      if (found.result === 'not_found') {
        t.equal(item, null);
        continue;
      }
      t.match(item, rows[place] as object, what);
      t.match(found, { item_id: item.item_id, external_id: item.external_id });
      if (found.result !== 'changed') continue;
      changed.push(item);
      written.add(item.item_id);
    }
    t.same(new Set(own.map(({ type }) => type)), new Set(changed.length > 0 ? ['item.toggled'] : []));
    t.same(byId(own.map(({ data }) => data)), byId(changed), `the events of ${what}`);
  }
  for (const [place, { item_id, version, ...item }] of before.entries()) {
    const now = await seen(place);
    t.equal(now.version, written.has(item_id) ? version + 1 : version, `item ${place}`);
    if (!written.has(item_id)) t.strictSame(now, { item_id, version, ...item });
  }
});

t.test('calls of setAvailability for the same items run one after the other', async (t) => {
  const service = await startWithItems(t, 1, 4);
  const { api, database, items } = service;
  const log = await followEvents(database);
  const row = (place: number) => ({
    item_id: (items[place] as Item).item_id,
    is_available: false,
    unavailable_until: newReturn(),
  });
  const calls = [[0, 1, 2], [2, 1, 3], [3, 0], [1], [0, 3, 1], [2, 0]].map((places) => places.map(row));
  const responses = await atOnce(service, calls, (rows) =>
    api.post(`/menus/${items[0]?.menu_id}/availability`, { items: rows }),
  );
  t.same(statusesOf(responses), [200]);
  const events = await log.next();
  for (const { item_id, path } of items) {
    const own = events.filter(({ data }) => data.item_id === item_id);
    const named = calls.flat().filter((row) => row.item_id === item_id).length;
    const versions = own.map(({ data }) => data.version);
    t.same(
      versions,
      Array.from({ length: named }, (_, index) => index + 2),
      'one after the other',
    );
    t.strictSame((await api.get(path)).body.data, own.at(-1)?.['data']);
    for (const [index, event] of own.entries())
      if (index > 0)
        t.same(event['previous'], { unavailable_until: own[index - 1]?.['data'].unavailable_until });
  }
  for (const { body, headers } of responses) {
    const own = events.filter(({ request_id }) => request_id === headers['x-request-id']);
    t.same(byId(own.map(({ data }) => data)), byId(body.data.map(({ item }: { item: Item }) => item)));
  }
});

for (const write of writes)
  for (const locked of write.locks)
    t.test(`a call without a locked ${locked} is not held up by one, in ${write.operation}`, async (t) => {
      const { api, database, items } = await startWithItems(t, 4, 6);
      const log = await followEvents(database);
      const [target] = items as [Item, ...Item[]];
      const isHeld = (item: Item) => (locked === 'item' ? item === target : item.menu_id === target.menu_id);
      const calls = [target, ...items, ...items];
      const held = await whileLocked(database, locked, target, async () => {
        // The first goes its direct way, and waits for as long as the lock is held.
        const begun = calls.map((item) => ({ item, response: call(api, write, item.path) }));
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

t.test('a write goes beside a shared statement of few calls, and waits for one of several', async (t) => {
  const { api, app, connection, items } = await startWithItems(t, 1, 10);
  const database = openDatabase(connection, { max: 3 });
  t.teardown(() => database.destroy());
  const named = t.capture(WatchedClient.prototype, 'query', WatchedClient.prototype.query);
  const begun: Promise<ApiResponse>[] = [];
  let arrived = 0;
  app.server.on('request', () => {
    arrived += 1;
  });
  const toggle = async (count: number) => {
    const expected = arrived + count;
    const next = items.slice(begun.length, begun.length + count);
    for (const { path } of next) begun.push(api.call('POST', `${path}/toggle`));
    await eventually('they arrive', async () => arrived === expected);
    // One that came later has got past all that they have to.
    await api.get('/menus');
  };
  const waiters = (count: number) =>
    eventually(`${count} wait`, async () => (await waitingBackends(database)).length === count);
  const lockItems = sql`lock table item in access exclusive mode`;
  const end = Promise.withResolvers<void>();
  const second = await database.transaction().execute(async (first) => {
    await lockItems.execute(first);
    await toggle(1);
    await toggle(1);
    await waiters(2);
    const second = database.transaction().execute(async (transaction) => {
      await lockItems.execute(transaction);
      await end.promise;
    });
    await waiters(3);
    await toggle(6);
    return [second];
  });
  // The two got the lock before the second transaction, and the six shall have it afterwards.
  await Promise.all(begun.slice(0, 2));
  await waiters(1);
  await toggle(2);
  end.resolve();
  await Promise.all(second);
  t.same(statusesOf(await Promise.all(begun)), [200]);
  const names = named().map(({ args: [text] }) => statementName(String(text)) ?? '');
  t.strictSame(
    names.filter((name) => name.startsWith('items.toggleItem')),
    ['items.toggleItem', 'items.toggleItems', 'items.toggleItems', 'items.toggleItems'],
    'one by itself, one beside it, six together and then two together',
  );
});

for (const write of writes) t.test(write.operation, (t) => befallsOne(t, write));

/** That what befalls one call is not the matter of the others. */
async function befallsOne(t: Test, write: Write): Promise<void> {
  t.test('a call that fails fails alone', async (t) => {
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
        const { method, path: below, json } = write.request(path);
        const { statusCode, body } = await request(`${url}/api/v1${below}`, {
          method,
          headers: { authorization, ...(json && { 'content-type': 'application/json' }) },
          body: json ? JSON.stringify(json) : null,
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
        const begun = items.map(({ path }) => call(api, write, path));
        const pids = await eventually('a shared statement waits', async () => {
          const found = await waitingBackends(database, write.mention);
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

  t.test('a statement that takes too long affects only those who wait for the same', async (t) => {
    const connect: TestServiceOptions['connect'] = async (connection) => ({
      ...connection,
      statement_timeout: 400,
    });
    const { api, connection, items } = await startWithItems(t, 2, 8, { connect });
    const database = openDatabase(connection, { max: 3 });
    t.teardown(() => database.destroy());
    const [target] = items as [Item, ...Item[]];
    const responses = await whileLocked(database, 'menu', target, () =>
      Promise.all(items.map(({ path }) => call(api, write, path))),
    );
    for (const [place, { menu_id }] of items.entries())
      t.equal(responses[place]?.status, menu_id === target.menu_id ? 503 : 200);
    for (const { path, menu_id } of items)
      t.equal((await api.get(path)).body.data.version, menu_id === target.menu_id ? 1 : 2);
  });
}

for (const write of writes)
  t.test(
    `each ${write.operation} has the grant of its own caller, and the accounts do not mix`,
    async (t) => {
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
          { sent: call(api, write, item.path), expected: expected(item) },
          { sent: api.get(`/menus/${item.menu_id}`), expected: expected(item) },
          {
            sent: call(api, write, `/menus/${item.menu_id}/items/999999`),
            expected: write.missing(expected(item)),
          },
          { sent: api.get(`/menus/999999/items/${item.item_id}`), expected: 404 },
        ]),
      );
      const responses = await Promise.all(calls.map(({ sent }) => sent));
      t.strictSame(
        responses.map(({ status }) => status),
        calls.map(({ expected }) => expected),
      );
      for (const { path } of items) t.equal((await api.get(path)).body.data.version, 3, 'two might write it');
    },
  );

function byId(items: Item[]): Item[] {
  return items.toSorted((a, b) => a.item_id - b.item_id);
}

/** A resource without what differs from one item to the next, and from one moment to the next. */
function looks(item: Record<string, unknown>): Record<string, unknown> {
  const own = /_id$|price|sort_order|created|_at$|_since$|_until$/;
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
      items.push({ item_id, menu_id, location_id, path: `/menus/${menu_id}/items/${item_id}` });
  }
  return { ...service, items };
}

/** Makes the calls so that those that come while the first two are held up come together. */
async function atOnce<Of>(
  { app, api, database }: Awaited<ReturnType<typeof startWithItems>>,
  calls: Of[],
  call: (of: Of) => Promise<ApiResponse>,
): Promise<ApiResponse[]> {
  let arrived = 0;
  const count = () => {
    arrived += 1;
  };
  app.server.on('request', count);
  const responses = await database.transaction().execute(async (transaction) => {
    await sql`lock table item in access exclusive mode`.execute(transaction);
    const begun = calls.map(call);
    await eventually('all have arrived', async () => arrived >= calls.length);
    // Authenticated as those before it, and served after them.
    await api.get('/locations');
    await eventually('two wait', async () => (await waitingBackends(database)).length >= 2);
    return begun;
  });
  app.server.off('request', count);
  return Promise.all(responses);
}

function whileLocked<T>(
  database: Database,
  what: 'item' | 'menu' | 'location',
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
