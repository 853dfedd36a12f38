import t from 'tap';
import { makeCategory, makeItem, makeMenu, makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api } = service;

t.test('returns the category with its items in display order, ties by id', async (t) => {
  const { category, item } = await makeTree(api);
  const last = await makeItem(api, category, { sort_order: 9 });
  const tied = await makeItem(api, category, { sort_order: 4 });
  const tiedToo = await makeItem(api, category, { sort_order: 4, is_available: false });
  const { status, body } = await api.get(`/menus/${category.menu_id}/categories/${category.category_id}`);
  t.equal(status, 200);
  t.same(body.data, { ...category, items: [item, tied, tiedToo, last] });
});

t.test('its ETag changes with the category and its items, and with nothing else', async (t) => {
  const { menu, category, item } = await makeTree(api);
  const items = `/menus/${menu.menu_id}/items`;
  const path = `/menus/${menu.menu_id}/categories/${category.category_id}`;
  const second = await makeCategory(api, menu.menu_id);
  const neighbour = await makeItem(api, second);
  const tag = async () => String((await api.get(path)).headers['etag']);
  const isCurrent = async (etag: string) =>
    (await api.get(path, { headers: { 'if-none-match': etag } })).status === 304;

  let added: { item_id: number } | undefined;
  const changes: Record<string, () => Promise<unknown>> = {
    'toggle an item': () => api.post(`${items}/${item.item_id}/toggle`),
    'update an item': () => api.put(`${items}/${item.item_id}`, { price: 7 }),
    'make an item': async () => {
      added = await makeItem(api, category);
    },
    'delete an item': () => api.delete(`${items}/${added?.item_id}`),
    'move an item in': () => api.put(`${items}/${neighbour.item_id}`, { category_id: category.category_id }),
    'move an item out': () => api.put(`${items}/${neighbour.item_id}`, { category_id: second.category_id }),
    'update the category': () => api.put(path, { name: 'Maki' }),
  };
  for (const [about, change] of Object.entries(changes)) {
    const before = await tag();
    t.ok(await isCurrent(before), `before: ${about}`);
    await change();
    t.notOk(await isCurrent(before), about);
  }
  const before = await tag();
  await api.post(`${items}/${neighbour.item_id}/toggle`);
  await api.put(`/menus/${menu.menu_id}`, { name: 'Late' });
  await api.put(path, { name: 'Maki' });
  t.ok(await isCurrent(before));
});

t.test('refuses categories that do not exist, are in another menu or are out of reach', async (t) => {
  const { menu, category } = await makeTree(api);
  const neighbour = await makeMenu(api, menu.location_id);
  t.equal((await api.get(`/menus/${menu.menu_id}/categories/999999`)).status, 404);
  t.equal((await api.get(`/menus/${neighbour.menu_id}/categories/${category.category_id}`)).status, 404);
  const other = await service.client({ account: 'Another' });
  const path = `/menus/${menu.menu_id}/categories/${category.category_id}`;
  t.equal((await other.get(path)).status, 403);
  t.equal((await other.get(path, { headers: { 'if-none-match': '*' } })).status, 403);
});
