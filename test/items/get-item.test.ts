import t from 'tap';
import { makeLocation, makeMenu, makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database } = service;

t.test('returns the item with the twelve given fields in their given form', async (t) => {
  const { menu, item } = await makeTree(api);
  const { status, body } = await api.get(`/menus/${menu.menu_id}/items/${item.item_id}`);
  t.equal(status, 200);
  t.same(body, { data: item });
  t.match(body.data.created, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  t.equal(body.data.created, body.data.updated_at.slice(0, 19).replace('T', ' '), 'both are in UTC');
  t.type(body.data.price, 'number');
});

t.test('its ETag is that of its state: 304 until it changes', async (t) => {
  const { menu, item } = await makeTree(api);
  const path = `/menus/${menu.menu_id}/items/${item.item_id}`;
  const etag = String((await api.get(path)).headers['etag']);
  const response = await api.get(path, { headers: { 'if-none-match': etag } });
  t.equal(response.status, 304);
  t.equal(response.headers['etag'], etag);
  t.equal(response.text, '');
  t.equal((await api.get(path, { headers: { 'if-none-match': `"x", W/${etag}` } })).status, 304);
  t.equal((await api.get(path, { headers: { 'if-none-match': '*' } })).status, 304);
  await api.post(`${path}/toggle`);
  t.equal((await api.get(path, { headers: { 'if-none-match': etag } })).status, 200);
});

t.test('reads as available the moment its absence is over, though no worker runs', async (t) => {
  const { menu, item } = await makeTree(api);
  const path = `/menus/${menu.menu_id}/items/${item.item_id}`;
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const off = await api.put(path, { unavailable_until: until });
  t.match(off.body.data, { is_available: false, unavailable_until: until });
  const etag = String(off.headers['etag']);
  t.equal((await api.get(path, { headers: { 'if-none-match': etag } })).status, 304);

  await database
    .updateTable('item')
    .set({ unavailable_until: new Date(Date.now() - 1_000) })
    .where('item_id', '=', item.item_id)
    .execute();
  const back = await api.get(path, { headers: { 'if-none-match': etag } });
  t.equal(back.status, 200, 'the tag has changed with what is read');
  t.match(back.body.data, { is_available: true, unavailable_until: null });
});

t.test('refuses items that do not exist, are in another menu or are out of reach', async (t) => {
  const { menu, item } = await makeTree(api);
  const neighbour = await makeMenu(api, menu.location_id);
  const elsewhere = await makeLocation(api);
  const path = `/menus/${menu.menu_id}/items/${item.item_id}`;
  t.equal((await api.get(`/menus/${menu.menu_id}/items/999999`)).status, 404);
  t.equal((await api.get(`/menus/${neighbour.menu_id}/items/${item.item_id}`)).status, 404);
  t.equal((await api.get(`/menus/${menu.menu_id}/items/abc`)).status, 404);
  const other = await service.client({ account: 'Another' });
  const bound = await service.client({ locations: [elsewhere.location_id] });
  const granted = await service.client({ locations: [menu.location_id] });
  t.equal((await other.get(path)).status, 403);
  t.equal((await bound.get(path)).status, 403);
  t.equal((await bound.get(path, { headers: { 'if-none-match': '*' } })).status, 403);
  t.equal((await granted.get(path)).status, 200);
});
