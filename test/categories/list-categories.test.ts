import t from 'tap';
import { makeCategory, makeLocation, makeMenu } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api } = service;
const { location_id } = await makeLocation(api);
const { menu_id } = await makeMenu(api, location_id);

t.test('lists the categories of the menu by id, without their items', async (t) => {
  const path = `/menus/${menu_id}/categories`;
  t.same((await api.get(path)).body, { data: [], next_cursor: null });
  const late = await makeCategory(api, menu_id, { name: 'Desserts', sort_order: 8 });
  const early = await makeCategory(api, menu_id, { name: 'Starters', sort_order: 1 });
  await makeCategory(api, (await makeMenu(api, location_id)).menu_id);
  t.same((await api.get(path)).body, { data: [late, early], next_cursor: null });

  const first = await api.get(`${path}?limit=1`);
  t.same(first.body.data, [late]);
  t.equal(first.headers['link'], `</api/v1${path}?limit=1&cursor=${first.body.next_cursor}>; rel="next"`);
  const second = await api.get(`${path}?limit=1&cursor=${first.body.next_cursor}`);
  t.same(second.body, { data: [early], next_cursor: null });
  t.equal(second.headers['link'], undefined);
});

t.test('refuses invalid pages, and menus that do not exist or are out of reach', async (t) => {
  t.match((await api.get(`/menus/${menu_id}/categories?limit=201`)).body.errors, [{ field: 'limit' }]);
  t.match((await api.get(`/menus/${menu_id}/categories?name=x`)).body.errors, [{ code: 'unknown' }]);
  t.equal((await api.get('/menus/999999/categories')).status, 404);
  const other = await service.client({ account: 'Another' });
  t.equal((await other.get(`/menus/${menu_id}/categories`)).status, 403);
  const elsewhere = await makeLocation(api);
  const bound = await service.client({ locations: [elsewhere.location_id] });
  t.equal((await bound.get(`/menus/${menu_id}/categories`)).status, 403);
});

t.test('updated_since lists the categories that changed at that time or later', async (t) => {
  const home = await makeMenu(api, location_id);
  const first = await makeCategory(api, home.menu_id);
  await makeCategory(api, home.menu_id);
  const path = `/menus/${home.menu_id}/categories`;
  const { body } = await api.put(`${path}/${first.category_id}`, { name: 'Renamed' });
  const list = async (moment: string) => (await api.get(`${path}?updated_since=${moment}`)).body.data;
  t.same(await list(body.data.updated_at), [body.data]);
  t.same(await list('2099-01-01T00:00:00Z'), []);
  t.equal((await list('2020-01-01T00:00:00Z')).length, 2);
  t.equal((await api.get('/menus/9000000/categories?updated_since=2020-01-01T00:00:00Z')).status, 404);
});
