import { sql } from 'kysely';
import t from 'tap';
import type { Api } from '../support/api.ts';
import { makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database } = service;
const { location, menu, category, item } = await makeTree(api);
const menuPath = `/menus/${menu.menu_id}`;
const itemPath = `${menuPath}/items/${item.item_id}`;

const tagOf = async (path: string, client: Api = api) => String((await client.get(path)).headers['etag']);
const again = async (path: string, tag: string, client: Api = api) =>
  (await client.get(path, { headers: { 'if-none-match': tag } })).status;

const lists: Record<string, () => Promise<unknown>> = {
  '/locations': () =>
    api.put(`/locations/${location.location_id}`, { phone: `${Math.random()}`.slice(2, 8) }),
  '/menus': () => api.post(`${menuPath}/toggle`),
  [`${menuPath}/categories`]: () =>
    api.put(`${menuPath}/categories/${category.category_id}`, { description: `${Math.random()}` }),
  [`${menuPath}/items`]: () => api.post(`${itemPath}/toggle`),
  [`/items?location_id=${location.location_id}`]: () => api.post(`${itemPath}/toggle`),
};

t.test('every page is 304 while it is the same, and 200 once anything on it has changed', async (t) => {
  for (const [path, change] of Object.entries(lists)) {
    const tag = await tagOf(path);
    t.match(tag, /^"[\w-]{24}"$/);
    const response = await api.get(path, { headers: { 'if-none-match': `"x", W/${tag}` } });
    t.match(response, { status: 304, text: '', headers: { etag: tag } }, path);
    await change();
    t.equal(await again(path, tag), 200, `${path} after a change`);
    t.not(await tagOf(path), tag);
  }
});

t.test('a record that is added after the page, or deleted again, changes its ETag', async (t) => {
  const path = `${menuPath}/items?limit=1`;
  const tag = await tagOf(path);
  const { body } = await api.post(`${menuPath}/items`, {
    category_id: category.category_id,
    name: 'Another',
    price: 1,
  });
  t.equal(await again(path, tag), 200, 'there is a next page now');
  await api.delete(`${menuPath}/items/${body.data.item_id}`);
  t.equal(await again(path, tag), 304, 'the page is again what it was');
});

t.test('a time that has come changes it, though nothing was written', async (t) => {
  const until = new Date(Date.now() + 3_600_000).toISOString();
  await api.put(itemPath, { is_available: false, unavailable_until: until });
  for (const path of [`${menuPath}/items`, `/items?item_id=${item.item_id}`]) {
    const tag = await tagOf(path);
    await sql`update item set unavailable_until = now() - interval '1 second'
      where item_id = ${item.item_id}`.execute(database);
    t.equal(await again(path, tag), 200, path);
    await sql`update item set unavailable_until = ${until} where item_id = ${item.item_id}`.execute(database);
    t.equal(await again(path, tag), 304, path);
  }
});

t.test('two clients that see different records have different ETags', async (t) => {
  const bound = await service.client({ locations: [location.location_id] });
  for (const path of ['/locations', '/menus', '/items']) {
    t.equal(await again(path, await tagOf(path), bound), 200, path);
    t.equal(await again(path, await tagOf(path, bound), bound), 304, path);
  }
});

t.test('an ETag hides neither a missing menu nor one out of reach', async (t) => {
  const stranger = await service.client({ account: 'Another' });
  for (const list of ['items', 'categories']) {
    t.equal(await again(`/menus/9000000/${list}`, '*'), 404);
    t.equal(await again(`${menuPath}/${list}`, '*', stranger), 403);
  }
});
