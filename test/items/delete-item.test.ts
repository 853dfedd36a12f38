import t from 'tap';
import { followEvents } from '../support/events.ts';
import { makeItem, makeMenu, makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database } = service;
const events = await followEvents(database);

t.test('deletes an item, reports its last state and changes the ETag of the menu', async (t) => {
  const { menu, category } = await makeTree(api);
  const item = await makeItem(api, category, { external_id: 'A', is_available: false });
  const path = `/menus/${menu.menu_id}/items/${item.item_id}`;
  const menuTag = String((await api.get(`/menus/${menu.menu_id}`)).headers['etag']);
  await events.next();
  const response = await api.delete(path);
  t.equal(response.status, 204);
  t.equal(response.text, '');
  const [event, ...more] = await events.next();
  t.same(more, []);
  t.match(event, {
    type: 'item.deleted',
    location_id: menu.location_id,
    menu_id: menu.menu_id,
    previous: null,
    request_id: response.headers['x-request-id'],
  });
  t.same(event?.['data'], item);
  t.equal((await api.get(path)).status, 404);
  t.equal((await api.delete(path)).status, 404);
  t.equal((await api.put(path, { price: 1 })).status, 404);
  t.equal((await api.post(`${path}/toggle`)).status, 404);
  t.equal((await api.get(`/menus/${menu.menu_id}`, { headers: { 'if-none-match': menuTag } })).status, 200);
  t.same(await events.next(), []);
  const again = await makeItem(api, category, { external_id: 'A' });
  t.ok(again.item_id > item.item_id, 'the external_id is free again, the id is not');
});

t.test('deletes only the state that If-Match names', async (t) => {
  const { menu, item } = await makeTree(api);
  const path = `/menus/${menu.menu_id}/items/${item.item_id}`;
  const stale = String((await api.get(path)).headers['etag']);
  const current = String((await api.post(`${path}/toggle`)).headers['etag']);
  await events.next();
  t.equal((await api.delete(path, { headers: { 'if-match': stale } })).status, 412);
  t.equal((await api.get(path)).status, 200);
  t.same(await events.next(), []);
  t.equal((await api.delete(path, { headers: { 'if-match': current } })).status, 204);
});

t.test('refuses items that do not exist, are in another menu or are out of reach', async (t) => {
  const { menu, item } = await makeTree(api);
  const neighbour = await makeMenu(api, menu.location_id);
  await events.next();
  t.equal((await api.delete(`/menus/${menu.menu_id}/items/999999`)).status, 404);
  t.equal((await api.delete(`/menus/${neighbour.menu_id}/items/${item.item_id}`)).status, 404);
  const other = await service.client({ account: 'Another' });
  t.equal((await other.delete(`/menus/${menu.menu_id}/items/${item.item_id}`)).status, 403);
  t.same(await events.next(), []);
});

t.test('of concurrent deletes one wins; updates and toggles come before it or find nothing', async (t) => {
  const { menu, item } = await makeTree(api);
  const path = `/menus/${menu.menu_id}/items/${item.item_id}`;
  await events.next();
  const [deletes, writes] = await Promise.all([
    Promise.all(Array.from({ length: 10 }, () => api.delete(path))),
    Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        n % 2 ? api.put(path, { price: n }) : api.post(`${path}/toggle`),
      ),
    ),
  ]);
  t.same(deletes.map(({ status }) => status).toSorted(), [204, ...Array(9).fill(404)]);
  t.same(
    [...new Set(writes.map(({ status }) => status))].filter((one) => one !== 200 && one !== 404),
    [],
  );
  const told = await events.next();
  t.equal(told.at(-1)?.['type'], 'item.deleted');
  t.equal(told.length, 1 + writes.filter(({ status }) => status === 200).length);
});
