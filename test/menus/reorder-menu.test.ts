import t from 'tap';
import { type Event, followEvents } from '../support/events.ts';
import { makeCategory, makeItem, makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

t.test('reorderMenu', async (t) => {
  const { api, database, client } = await startTestService(t);
  const { location, menu, category: nigiri, item: salmon } = await makeTree(api);
  const maki = await makeCategory(api, menu.menu_id, { name: 'Maki' });
  const drinks = await makeCategory(api, menu.menu_id, { name: 'Drinks' });
  const [tuna, eel, roll, tea] = [
    await makeItem(api, nigiri, { name: 'Tuna' }),
    await makeItem(api, nigiri, { name: 'Eel' }),
    await makeItem(api, maki, { name: 'Roll' }),
    await makeItem(api, drinks, { name: 'Tea' }),
  ];
  const path = `/menus/${menu.menu_id}/order`;
  const log = await followEvents(database);
  const [N, M, D] = [nigiri, maki, drinks].map(({ category_id }) => category_id);
  const [S, T, E, R, C] = [salmon, tuna, eel, roll, tea].map(({ item_id }) => item_id);
  const order = (...categories: [number, number[]][]) => ({
    categories: categories.map(([category_id, items]) => ({ category_id, items })),
  });
  const shown = async () =>
    (await api.get(`/menus/${menu.menu_id}`)).body.data.categories.map(
      ({ category_id, items }: { category_id: number; items: { item_id: number }[] }) => [
        category_id,
        items.map(({ item_id }) => item_id),
      ],
    );

  t.test('an order that is already in place changes nothing and fires nothing', async (t) => {
    const before = await api.get(`/menus/${menu.menu_id}`);
    const response = await api.put(path, order([N, [S, T, E]], [M, [R]], [D, [C]]));
    t.equal(response.status, 200);
    t.equal(response.text, before.text);
    t.equal(response.headers['etag'], before.headers['etag']);
    t.strictSame(await log.next(), []);
  });

  t.test('puts categories and items in order, moves items, and leaves the rest', async (t) => {
    const before = (await api.get(`/menus/${menu.menu_id}`)).headers['etag'];
    const wanted: [number, number[]][] = [
      [M, [E, R]],
      [N, [S, T]],
      [D, [C]],
    ];
    const response = await api.put(path, order(...wanted));
    t.equal(response.status, 200);
    t.strictSame(await shown(), wanted);
    const after = await api.get(`/menus/${menu.menu_id}`);
    t.equal(response.text, after.text);
    t.equal(response.headers['etag'], after.headers['etag']);
    t.not(response.headers['etag'], before);

    t.strictSame(summary(await log.next()), [
      ['category.updated', `category:${N}`, { sort_order: 0 }],
      ['category.updated', `category:${M}`, { sort_order: 1 }],
      ['item.updated', `item:${E}`, { category_id: N, sort_order: 2 }],
    ]);
    for (const stayed of [salmon, tuna, tea, roll])
      t.strictSame((await api.get(`/menus/${menu.menu_id}/items/${stayed.item_id}`)).body.data, stayed);
    t.match((await api.get(`/menus/${menu.menu_id}/items/${E}`)).body.data, { category_id: M, version: 2 });
  });

  t.test('a swap moves two, wherever their positions are', async (t) => {
    for (const [item_id, sort_order] of [
      [S, 10],
      [T, 40],
    ])
      await api.put(`/menus/${menu.menu_id}/items/${item_id}`, { sort_order });
    await log.next();
    await api.put(path, order([M, [E, R]], [N, [T, S]], [D, [C]]));
    t.strictSame(summary(await log.next()), [
      ['item.updated', `item:${S}`, { sort_order: 10 }],
      ['item.updated', `item:${T}`, { sort_order: 40 }],
    ]);
  });

  t.test('equal and highest positions can be put in any order', async (t) => {
    for (const item_id of [S, T, E])
      await api.put(`/menus/${menu.menu_id}/items/${item_id}`, { category_id: N, sort_order: 2147483647 });
    await log.next();
    const tied: [number, number[]][] = [
      [M, [R]],
      [N, [S, T, E]],
      [D, [C]],
    ];
    t.strictSame(await shown(), tied);
    await api.put(path, order(...tied));
    t.strictSame(await log.next(), [], 'equal positions show in the order of ids, which is the wanted one');
    for (const items of [
      [E, T, S],
      [T, E, S],
      [S, T, E],
    ] as number[][]) {
      const wanted: [number, number[]][] = [
        [M, [R]],
        [N, items],
        [D, [C]],
      ];
      t.equal((await api.put(path, order(...wanted))).status, 200);
      t.strictSame(await shown(), wanted);
    }
  });

  t.test('missing, repeated and foreign ids are all reported at once, and nothing is changed', async (t) => {
    const other = await makeTree(api);
    const before = (await api.get(`/menus/${menu.menu_id}`)).text;
    await log.next();
    const response = await api.put(
      path,
      order([N, [S, S]], [M, [R, other.item.item_id, S]], [N, []], [other.category.category_id, []]),
    );
    t.equal(response.status, 422);
    t.strictSame(
      response.body.errors.map(({ field, code, message }: Record<string, string>) => [field, code, message]),
      [
        ['/categories/2/category_id', 'duplicate', 'names the same category as /categories/0/category_id'],
        ['/categories/3/category_id', 'not_found', 'is not in this menu'],
        ['/categories', 'missing', `leaves out category ${D}`],
        ['/categories/0/items/1', 'duplicate', 'names the same item as /categories/0/items/0'],
        ['/categories/1/items/1', 'not_found', 'is not in this menu'],
        ['/categories/1/items/2', 'duplicate', 'names the same item as /categories/0/items/0'],
        ['/categories', 'missing', `leaves out item ${C}`],
        ['/categories', 'missing', `leaves out item ${T}`],
        ['/categories', 'missing', `leaves out item ${E}`],
      ],
    );
    t.equal((await api.put(path, { categories: [] })).status, 422);
    t.equal((await api.get(`/menus/${menu.menu_id}`)).text, before);
    t.strictSame(await log.next(), []);
  });

  t.test('If-Match takes the ETag of the menu, and anything inside counts', async (t) => {
    const { etag = '' } = (await api.get(`/menus/${menu.menu_id}`)).headers as { etag?: string };
    await api.post(`/menus/${menu.menu_id}/items/${C}/toggle`);
    const before = (await api.get(`/menus/${menu.menu_id}`)).text;
    await log.next();
    const wanted = order([D, [C]], [N, [S, T, E]], [M, [R]]);
    const stale = await api.put(path, wanted, { headers: { 'if-match': etag } });
    t.equal(stale.status, 412);
    t.equal((await api.get(`/menus/${menu.menu_id}`)).text, before);
    t.strictSame(await log.next(), []);
    const { etag: current = '' } = (await api.get(`/menus/${menu.menu_id}`)).headers as { etag?: string };
    t.equal((await api.put(path, wanted, { headers: { 'if-match': current } })).status, 200);
  });

  t.test('refuses clients that may not write this menu', async (t) => {
    const wanted = order([N, [S, T, E]], [M, [R]], [D, [C]]);
    const stranger = await client({ account: 'Elsewhere' });
    t.equal((await stranger.put(path, wanted)).status, 403);
    const elsewhere = await client({ locations: [location.location_id + 1] });
    t.equal((await elsewhere.put(path, wanted)).status, 403);
    const kitchen = await client({ scopes: ['availability:write'] });
    t.equal((await kitchen.put(path, wanted)).status, 403);
    t.equal((await api.put('/menus/9000000/order', wanted)).status, 404);
  });
});

function summary(events: Event[]): [string, string, unknown][] {
  const idOf = ({ type, data }: Event): number => (type.startsWith('item') ? data.item_id : data.category_id);
  return events
    .toSorted((a, b) => (a['type'] === b['type'] ? idOf(a) - idOf(b) : a['type'] < b['type'] ? -1 : 1))
    .map((event) => [event['type'], `${event['type'].split('.')[0]}:${idOf(event)}`, event['previous']]);
}
