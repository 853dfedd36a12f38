import { sql } from 'kysely';
import t from 'tap';
import type { Database } from '../../src/db/database.ts';
import { restoreDueItems } from '../../src/items/restore-items.ts';
import type { Api } from '../support/api.ts';
import { followEvents } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { makeItem, makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const hour = 3_600_000;
const inHours = (hours: number) => new Date(Date.now() + hours * hour).toISOString();

t.test('when an absence is over', async (t) => {
  const { api, database } = await startTestService(t);
  const { menu, category } = await makeTree(api);
  const log = await followEvents(database);
  const menuPath = `/menus/${menu.menu_id}`;
  const availability = (...items: object[]) => api.post(`${menuPath}/availability`, { items });
  const listed = async (is_available: boolean) =>
    (await api.get(`${menuPath}/items?is_available=${is_available}`)).body.data.map(
      (item: { item_id: number }) => item.item_id,
    );

  /** A new item whose absence is just over, with the answers of before. */
  const lapsedItem = async () => {
    const { item_id } = await makeItem(api, category);
    const path = `${menuPath}/items/${item_id}`;
    await log.next();
    const planned = inHours(1);
    const off = await api.put(path, { unavailable_until: planned });
    t.match(off.body.data, { is_available: false, unavailable_until: planned });
    const menuBefore = await api.get(menuPath);
    t.notOk((await listed(true)).includes(item_id));
    t.ok((await listed(false)).includes(item_id));
    await log.next();
    await passHours(database, 1);
    return { item_id, path, until: earlier(planned, 1), off, menuBefore };
  };

  t.test('every read shows the item as available, though nobody has written so', async (t) => {
    const { item_id, path, off, menuBefore } = await lapsedItem();
    const item = await api.get(path);
    t.match(item.body.data, { is_available: true, unavailable_until: null, version: off.body.data.version });
    t.ok((await listed(true)).includes(item_id));
    t.notOk((await listed(false)).includes(item_id));
    const whole = await api.get(menuPath);
    t.strictSame(itemIn(whole.body.data, item_id), item.body.data);
    const section = await api.get(`${menuPath}/categories/${category.category_id}`);
    t.strictSame(itemIn({ categories: [section.body.data] }, item_id), item.body.data);

    t.not(item.headers['etag'], off.headers['etag']);
    t.not(whole.headers['etag'], menuBefore.headers['etag']);
    for (const [where, before] of [
      [path, off],
      [menuPath, menuBefore],
    ] as const) {
      const headers = { 'if-none-match': String(before.headers['etag']) };
      t.equal((await api.get(where, { headers })).status, 200, 'a copy of before is not current');
    }
    const headers = { 'if-match': String(off.headers['etag']) };
    t.equal((await api.put(path, { price: 1 }, { headers })).status, 412);
    t.match((await availability({ item_id, is_available: true })).body.data, [{ result: 'unchanged' }]);
    t.strictSame(await log.next(), []);
  });

  t.test('the worker records it once, with item.toggled', async (t) => {
    const { item_id, path, until } = await lapsedItem();
    const read = await api.get(path);
    const whole = await api.get(menuPath);
    await log.next();
    await Promise.all(Array.from({ length: 5 }, () => restoreDueItems(database)));
    const events = (await log.next()).filter(({ data }) => data.item_id === item_id);
    t.strictSame(
      events.map(({ type, previous, request_id }) => [type, previous, request_id]),
      [['item.toggled', { is_available: false, unavailable_until: until }, null]],
    );
    const written = await api.get(path);
    t.strictSame(written.body.data, events[0]?.['data']);
    t.match(written.body.data, {
      is_available: true,
      unavailable_until: null,
      version: read.body.data.version + 1,
    });
    t.not(written.headers['etag'], read.headers['etag']);
    t.not((await api.get(menuPath)).headers['etag'], whole.headers['etag']);
    t.equal(await restoreDueItems(database), 0);
  });

  t.test('switching the item off again fires item.toggled, since readers saw it on', async (t) => {
    const writes: [string, (item: { item_id: number; path: string }, until: string) => Promise<unknown>][] = [
      ['updateItem', ({ path }, until) => api.put(path, { is_available: false, unavailable_until: until })],
      [
        'setAvailability',
        ({ item_id }, until) => availability({ item_id, is_available: false, unavailable_until: until }),
      ],
      ['toggleItem', ({ path }) => api.post(`${path}/toggle`)],
    ];
    for (const [name, write] of writes) {
      const item = await lapsedItem();
      const until = inHours(24);
      await write(item, until);
      const { data } = (await api.get(item.path)).body;
      t.equal(data.is_available, false, name);
      const [event, ...more] = await log.next();
      t.match(event, { type: 'item.toggled', data, previous: { is_available: true } });
      t.equal(event?.['previous'].unavailable_until ?? null, null);
      t.equal(more.length, 0);
      t.equal(await restoreDueItems(database), 0);
    }
  });

  t.test('any other write of the item includes the return, and reports it', async (t) => {
    const { path, until } = await lapsedItem();
    await api.put(path, { price: 9.5 });
    t.match(
      (await log.next()).map(({ type, previous }) => [type, previous]),
      [
        ['item.toggled', { price: 4.5, is_available: false, unavailable_until: until }],
        ['item.updated', { price: 4.5, is_available: false, unavailable_until: until }],
      ],
    );
    t.equal(await restoreDueItems(database), 0);
  });
});

t.test('the latest of overlapping changes wins', async (t) => {
  const { api, database } = await startTestService(t);
  const { menu, category } = await makeTree(api);
  const later = inHours(24);
  const cases: [string, (path: string) => Promise<unknown>, object][] = [
    [
      'a later return',
      (path) => api.put(path, { unavailable_until: later }),
      { is_available: false, unavailable_until: earlier(later, 1) },
    ],
    [
      'no return',
      (path) => api.put(path, { unavailable_until: null }),
      { is_available: false, unavailable_until: null },
    ],
    [
      'on at once',
      (path) => api.put(path, { is_available: true }),
      { is_available: true, unavailable_until: null },
    ],
    ['toggled twice', (path) => toggledTwice(api, path), { is_available: false, unavailable_until: null }],
  ];
  const items = await Promise.all(cases.map(() => makeItem(api, category)));
  const early = await makeItem(api, category);
  const pathOf = ({ item_id }: { item_id: number }) => `/menus/${menu.menu_id}/items/${item_id}`;
  const until = inHours(1);
  for (const [index, [, write]] of cases.entries()) {
    await api.put(pathOf(items[index]), { unavailable_until: until });
    await write(pathOf(items[index]));
  }
  await api.put(pathOf(early), { unavailable_until: later });
  await api.put(pathOf(early), { unavailable_until: until });

  await passHours(database, 1);
  const log = await followEvents(database);
  t.equal(await restoreDueItems(database), 1);
  t.match(await log.next(), [{ type: 'item.toggled', data: { item_id: early.item_id, is_available: true } }]);
  for (const [index, [name, , expected]] of cases.entries())
    t.match((await api.get(pathOf(items[index]))).body.data, expected, name);
});

t.test('the worker brings an item back within two seconds', async (t) => {
  const { api, database } = await startTestService(t, { worker: {} });
  const { item } = await makeTree(api);
  const log = await followEvents(database);
  const until = new Date(Date.now() + 1_000).toISOString();
  await api.put(`/menus/${item.menu_id}/items/${item.item_id}`, { unavailable_until: until });
  await log.next();
  const [event] = await eventually('the item is back', async () => {
    const events = await log.next();
    return events.length > 0 && events;
  });
  t.match(event, { type: 'item.toggled', data: { item_id: item.item_id, is_available: true } });
  const late = Date.parse(event?.['timestamp']) - Date.parse(until);
  t.ok(late >= 0 && late < 2000, `${late} ms after its time`);
});

async function toggledTwice(api: Api, path: string): Promise<void> {
  await api.post(`${path}/toggle`);
  await api.post(`${path}/toggle`);
}

/** Lets hours pass for the items: every absence ends that much earlier, and nothing else is changed. */
async function passHours(database: Database, hours: number): Promise<void> {
  await sql`update item set unavailable_until = unavailable_until - ${hours} * interval '1 hour'`.execute(
    database,
  );
}

function earlier(time: string, hours: number): string {
  return new Date(Date.parse(time) - hours * hour).toISOString();
}

function itemIn(menu: { categories: { items: { item_id: number }[] }[] }, item_id: number): unknown {
  return menu.categories.flatMap(({ items }) => items).find((item) => item.item_id === item_id);
}
