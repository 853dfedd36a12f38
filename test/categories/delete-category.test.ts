import t from 'tap';
import { followEvents } from '../support/events.ts';
import { makeCategory, makeItem, makeMenu, makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database } = service;
const events = await followEvents(database);

t.test('deletes a category with its items and reports the last state of each record', async (t) => {
  const { menu, category, item } = await makeTree(api);
  const kept = await makeItem(api, await makeCategory(api, menu.menu_id));
  const path = `/menus/${menu.menu_id}/categories/${category.category_id}`;
  const menuTag = String((await api.get(`/menus/${menu.menu_id}`)).headers['etag']);
  await events.next();

  const response = await api.delete(path);
  t.equal(response.status, 204);
  const told = await events.next();
  t.same(
    told.map((event) => [event['type'], event['data']]),
    [
      ['item.deleted', item],
      ['category.deleted', category],
    ],
  );
  for (const event of told) {
    t.match(event, { location_id: menu.location_id, menu_id: menu.menu_id, previous: null });
  }
  const now = await api.get(`/menus/${menu.menu_id}`, { headers: { 'if-none-match': menuTag } });
  t.equal(now.status, 200, 'the tag of the menu has changed');
  t.match(now.body.data.categories, [{ category_id: kept.category_id, items: [kept] }]);
  t.equal((await api.delete(path)).status, 404);
  t.same(await events.next(), []);
});

t.test('deletes only the state that If-Match names, items included', async (t) => {
  const { menu, category, item } = await makeTree(api);
  const path = `/menus/${menu.menu_id}/categories/${category.category_id}`;
  const stale = String((await api.get(path)).headers['etag']);
  await api.put(`/menus/${menu.menu_id}/items/${item.item_id}`, { price: 9 });
  await events.next();
  t.equal((await api.delete(path, { headers: { 'if-match': stale } })).status, 412);
  t.same(await events.next(), []);
  const current = String((await api.get(path)).headers['etag']);
  t.equal((await api.delete(path, { headers: { 'if-match': current } })).status, 204);
});

t.test('refuses categories that do not exist, are in another menu or are out of reach', async (t) => {
  const { menu, category } = await makeTree(api);
  const neighbour = await makeMenu(api, menu.location_id);
  await events.next();
  t.equal((await api.delete(`/menus/${menu.menu_id}/categories/999999`)).status, 404);
  t.equal((await api.delete(`/menus/${neighbour.menu_id}/categories/${category.category_id}`)).status, 404);
  const other = await service.client({ account: 'Another' });
  t.equal((await other.delete(`/menus/${menu.menu_id}/categories/${category.category_id}`)).status, 403);
  t.same(await events.next(), []);
});

t.test('items that are created, moved and toggled at the same time end as if before or after', async (t) => {
  for (let round = 0; round < 8; round += 1) {
    const { menu, category, item } = await makeTree(api);
    const second = await makeCategory(api, menu.menu_id);
    const mover = await makeItem(api, second);
    const items = `/menus/${menu.menu_id}/items`;
    await events.next();
    const writes = [
      () => api.post(items, { category_id: category.category_id, name: 'New', price: 1 }),
      () => api.put(`${items}/${mover.item_id}`, { category_id: category.category_id }),
      () => api.put(`${items}/${item.item_id}`, { category_id: second.category_id }),
      () => api.post(`${items}/${item.item_id}/toggle`),
      () => api.put(`/menus/${menu.menu_id}/categories/${category.category_id}`, { external_id: 'E' }),
    ].flatMap((write) => [write(), write()]);
    const [deleted, ...responses] = await Promise.all([
      new Promise((resolve) => setImmediate(resolve)).then(() =>
        api.delete(`/menus/${menu.menu_id}/categories/${category.category_id}`),
      ),
      ...writes,
    ]);
    t.equal(deleted.status, 204);
    const statuses = new Set(responses.map(({ status }) => status));
    t.same(
      [...statuses].filter((status) => ![200, 201, 404, 422].includes(status)),
      [],
    );

    const { categories } = (await api.get(`/menus/${menu.menu_id}`)).body.data;
    const alive = categories.flatMap((one: { items: { item_id: number }[] }) =>
      one.items.map(({ item_id }) => item_id),
    );
    const last = new Map([item, mover].map(({ item_id }) => [item_id, 'item.created']));
    for (const { type, data } of (await events.next()) as never as {
      type: string;
      data: { item_id: number };
    }[]) {
      if (type.startsWith('item.')) last.set(data.item_id, type);
    }
    const told = [...last].filter(([, type]) => type !== 'item.deleted').map(([id]) => id);
    t.same(alive.toSorted(), told.toSorted(), 'the events tell which items are left');
  }
});
