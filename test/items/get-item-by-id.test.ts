import t from 'tap';
import { makeLocation, makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database } = service;

t.test('responds as getItem does, and 304 until the item changes', async (t) => {
  const { menu, item } = await makeTree(api);
  const known = await api.get(`/menus/${menu.menu_id}/items/${item.item_id}`);
  const found = await api.get(`/items/${item.item_id}`);
  t.equal(found.status, 200);
  t.equal(found.text, known.text);
  t.equal(found.headers['etag'], known.headers['etag']);
  const ifNoneMatch = { headers: { 'if-none-match': String(found.headers['etag']) } };
  t.equal((await api.get(`/items/${item.item_id}`, ifNoneMatch)).status, 304);
  await api.post(`/menus/${menu.menu_id}/items/${item.item_id}/toggle`);
  const toggled = await api.get(`/items/${item.item_id}`, ifNoneMatch);
  t.match(toggled, { status: 200, body: { data: { is_available: false, version: 2 } } });
});

t.test('its ETag is the one that updateItem accepts', async (t) => {
  const { menu, item } = await makeTree(api);
  const { headers } = await api.get(`/items/${item.item_id}`);
  const ifMatch = { headers: { 'if-match': String(headers['etag']) } };
  const path = `/menus/${menu.menu_id}/items/${item.item_id}`;
  t.equal((await api.put(path, { price: 5 }, ifMatch)).status, 200);
  t.equal((await api.put(path, { price: 6 }, ifMatch)).status, 412);
});

t.test('reads as available the moment its absence is over, though no worker runs', async (t) => {
  const { menu, item } = await makeTree(api);
  const until = new Date(Date.now() + 3_600_000).toISOString();
  await api.put(`/menus/${menu.menu_id}/items/${item.item_id}`, { unavailable_until: until });
  t.match((await api.get(`/items/${item.item_id}`)).body.data, { is_available: false });
  await database
    .updateTable('item')
    .set({ unavailable_until: new Date(Date.now() - 1_000) })
    .where('item_id', '=', item.item_id)
    .execute();
  t.match((await api.get(`/items/${item.item_id}`)).body.data, {
    is_available: true,
    unavailable_until: null,
  });
});

t.test('refuses items that do not exist or are out of reach, even with If-None-Match', async (t) => {
  const { menu, item } = await makeTree(api);
  const path = `/items/${item.item_id}`;
  const elsewhere = await makeLocation(api);
  const other = await service.client({ account: 'Another' });
  const bound = await service.client({ locations: [elsewhere.location_id] });
  const granted = await service.client({ locations: [menu.location_id] });
  const any = { headers: { 'if-none-match': '*' } };
  for (const stranger of [other, bound]) {
    t.match(await stranger.get(path), { status: 403, body: { code: 'forbidden' } });
    t.equal((await stranger.get(path, any)).status, 403);
  }
  t.equal((await granted.get(path)).status, 200);
  await api.delete(`/menus/${menu.menu_id}${path}`);
  t.match(await api.get(path), { status: 404, body: { code: 'not_found' } });
  t.equal((await api.get(path, any)).status, 404);
  t.equal((await api.get('/items/abc')).status, 404);
});
