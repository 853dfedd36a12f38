import { sql } from 'kysely';
import t from 'tap';
import { makeCategory, makeItem, makeLocation, makeMenu, makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database } = service;

t.test('returns the whole menu in display order, ties by id', async (t) => {
  const { location_id } = await makeLocation(api);
  const menu = await makeMenu(api, location_id);
  const last = await makeCategory(api, menu.menu_id, { sort_order: 9 });
  const tied = await makeCategory(api, menu.menu_id, { sort_order: 3 });
  const tiedToo = await makeCategory(api, menu.menu_id, { sort_order: 3 });
  const first = await makeCategory(api, menu.menu_id, { sort_order: 0 });
  const c = await makeItem(api, first, { name: 'c', sort_order: 5 });
  const a = await makeItem(api, first, { name: 'a', sort_order: 1, is_available: false });
  const b = await makeItem(api, first, { name: 'b', sort_order: 1 });
  const d = await makeItem(api, last, { name: 'd' });

  const { status, body } = await api.get(`/menus/${menu.menu_id}`);
  t.equal(status, 200);
  t.same(body.data, {
    ...menu,
    categories: [
      { ...first, items: [a, b, c] },
      { ...tied, items: [] },
      { ...tiedToo, items: [] },
      { ...last, items: [d] },
    ],
    modifier_groups: [],
  });
});

t.test('is never truncated', async (t) => {
  const { menu } = await makeTree(api);
  await database
    .insertInto('item')
    .columns(['account_id', 'location_id', 'menu_id', 'category_id', 'name', 'price', 'sort_order'])
    .expression((db) =>
      db
        .selectFrom(['item', sql<{ n: number }>`generate_series(1, 1499)`.as('copies')])
        .select(['account_id', 'location_id', 'menu_id', 'category_id', 'name', 'price', 'sort_order'])
        .where('menu_id', '=', menu.menu_id),
    )
    .execute();
  t.equal((await api.get(`/menus/${menu.menu_id}`)).body.data.categories[0].items.length, 1500);
});

t.test('its ETag changes with anything inside, and with nothing else', async (t) => {
  const { menu, category, item } = await makeTree(api);
  const path = `/menus/${menu.menu_id}`;
  const itemPath = `${path}/items/${item.item_id}`;
  const neighbour = await makeTree(api);
  const tag = async () => String((await api.get(path)).headers['etag']);
  const isCurrent = async (etag: string) => {
    const response = await api.get(path, { headers: { 'if-none-match': etag } });
    if (response.status === 304) t.equal(response.text, '');
    return response.status === 304;
  };

  let second: { category_id: number; menu_id: number } | undefined;
  let added: { item_id: number } | undefined;
  const changes: Record<string, () => Promise<unknown>> = {
    'toggle an item': () => api.post(`${itemPath}/toggle`),
    'update an item': () => api.put(itemPath, { price: 7 }),
    'make a category': async () => {
      second = await makeCategory(api, menu.menu_id);
    },
    'move an item': () => api.put(itemPath, { category_id: second?.category_id }),
    'make an item': async () => {
      added = await makeItem(api, category);
    },
    'delete an item': () => api.delete(`${path}/items/${added?.item_id}`),
    'update a category': () => api.put(`${path}/categories/${category.category_id}`, { name: 'Maki' }),
    'delete a category': () => api.delete(`${path}/categories/${category.category_id}`),
    'update the menu': () => api.put(path, { name: 'Late' }),
    'toggle the menu': () => api.post(`${path}/toggle`),
  };
  const tags = new Set([await tag()]);
  for (const [about, change] of Object.entries(changes)) {
    const before = await tag();
    t.ok(await isCurrent(before), `before: ${about}`);
    await change();
    t.notOk(await isCurrent(before), about);
    tags.add(await tag());
  }
  t.equal(tags.size, Object.keys(changes).length + 1, 'no tag comes back');

  const before = await tag();
  await api.put(itemPath, { price: 7 });
  await api.put(path, { name: 'Late' });
  await api.post(`/menus/${neighbour.menu.menu_id}/items/${neighbour.item.item_id}/toggle`);
  await api.put(`/locations/${menu.location_id}`, { name: 'Another name' });
  t.ok(await isCurrent(before), 'updates that change nothing, and other menus, leave the tag alone');
  t.ok(await isCurrent(`"x", W/${before}`), 'one of several tags, weak comparison');
  t.ok(await isCurrent('*'));
});

t.test('refuses menus that do not exist or lie outside the account or the grant', async (t) => {
  const { menu } = await makeTree(api);
  const { location_id } = await makeLocation(api);
  const path = `/menus/${menu.menu_id}`;
  const etag = String((await api.get(path)).headers['etag']);
  const other = await service.client({ account: 'Another' });
  const bound = await service.client({ locations: [location_id] });
  for (const client of [other, bound]) {
    t.equal((await client.get(path)).status, 403);
    t.equal((await client.get(path, { headers: { 'if-none-match': etag } })).status, 403);
    t.equal((await client.get(path, { headers: { 'if-none-match': '*' } })).status, 403);
  }
  t.equal((await api.get('/menus/999999')).status, 404);
  t.equal((await api.get('/menus/07')).status, 404);
  const granted = await service.client({ locations: [menu.location_id] });
  t.equal((await granted.get(path)).status, 200);
});

t.test('a write by one process is in the very next read by another', async (t) => {
  const other = await startTestService(t, { connection: service.connection });
  const { menu, item } = await makeTree(api);
  const path = `/menus/${menu.menu_id}`;
  const price = async (reader: typeof api) => (await reader.get(path)).body.data.categories[0].items[0].price;
  for (let cents = 1; cents <= 20; cents++) {
    await api.put(`${path}/items/${item.item_id}`, { price: cents / 100 });
    t.equal(await price(other.api), cents / 100);
    t.equal(await price(api), cents / 100);
  }
});

t.test('a cached menu is shown to nobody who may not read it', async (t) => {
  const { menu } = await makeTree(api);
  t.equal((await api.get(`/menus/${menu.menu_id}`)).status, 200);
  const stranger = await service.client({ account: 'Stranger' });
  t.equal((await stranger.get(`/menus/${menu.menu_id}`)).status, 403);
  t.equal((await stranger.get(`/menus/${menu.menu_id}`, { headers: { 'if-none-match': '*' } })).status, 403);
  t.equal(
    (await stranger.get(`/menus/${menu.menu_id}/content`, { headers: { 'if-none-match': '*' } })).status,
    403,
  );
});
