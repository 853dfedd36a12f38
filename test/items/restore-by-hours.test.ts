import t from 'tap';
import { daily, next, timezone } from '../support/early-morning.ts';
import { makeCategory, makeItem, makeLocation, makeMenu } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api } = service;

async function served(hours: { location?: object; menu?: object; category?: object; item?: object } = {}) {
  const { location_id } = await makeLocation(api, { timezone, hours: hours.location ?? null });
  const menu = await makeMenu(api, location_id, { hours: hours.menu ?? null });
  const category = await makeCategory(api, menu.menu_id, { hours: hours.category ?? null });
  const item = await makeItem(api, category, { external_id: 'A', hours: hours.item ?? null });
  return { location_id, menu, category, item, path: `/menus/${menu.menu_id}/items/${item.item_id}` };
}

t.test('next_day is the start of the next day of the location, and makes the item unavailable', async (t) => {
  const { path } = await served();
  const kitchen = await service.client({ scopes: ['availability:write'] });
  const response = await kitchen.put(path, { restore: 'next_day' });
  t.equal(response.status, 200, response.text);
  t.match(response.body.data, { is_available: false, unavailable_until: next('00:00') });
});

t.test('next_opening is when all levels next begin to hold together', async (t) => {
  const hours = { location: daily('09:00', 720), menu: daily('10:15', 300), item: daily('08:00', 1200) };
  const { path, category } = await served(hours);
  const put = async (body: object) => (await api.put(path, body)).body.data.unavailable_until;
  t.equal(await put({ is_available: false, restore: 'next_opening' }), next('10:15'));
  await api.put(`/menus/${category.menu_id}/categories/${category.category_id}`, {
    hours: daily('11:30', 60),
  });
  t.equal(await put({ restore: 'next_opening' }), next('11:30'));
  t.equal(
    await put({ restore: 'next_opening', hours: daily('11:45', 30) }),
    next('11:45'),
    'as they will be',
  );
  const other = await makeCategory(api, category.menu_id, { hours: daily('12:30', 60) });
  const moved = { category_id: other.category_id, hours: daily('08:00', 1200) };
  t.equal(await put({ restore: 'next_opening', ...moved }), next('12:30'));
});

t.test('the moment stays what it was when the hours change later', async (t) => {
  const { path, location_id } = await served({ location: daily('09:00', 60) });
  const { unavailable_until } = (await api.put(path, { restore: 'next_opening' })).body.data;
  await api.put(`/locations/${location_id}`, { hours: daily('17:00', 60) });
  t.equal((await api.get(path)).body.data.unavailable_until, unavailable_until);
});

t.test('without a next opening it is 422, and nothing changes', async (t) => {
  for (const hours of [{}, { item: { weekly: [] } }, { menu: daily('00:00', 1440) }]) {
    const { path, item, menu } = await served(hours);
    const refused = await api.put(path, { restore: 'next_opening', name: 'Other' });
    t.equal(refused.status, 422);
    t.match(refused.body.errors, [{ field: '/restore', code: 'no_opening' }]);
    const rows = [{ item_id: item.item_id, is_available: false, restore: 'next_opening' }];
    const bulk = await api.post(`/menus/${menu.menu_id}/availability`, { items: rows });
    t.match(bulk.body.errors, [{ field: '/items/0/restore', code: 'no_opening' }]);
    t.same((await api.get(path)).body.data, item);
  }
});

t.test('restore excludes unavailable_until and an item that is on', async (t) => {
  const { path, menu, item } = await served();
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  for (const other of [
    { unavailable_until: tomorrow },
    { unavailable_until: null },
    { is_available: true },
  ]) {
    const row = { is_available: false, ...other, restore: 'next_day' };
    t.match((await api.put(path, row)).body.errors, [{ field: '/restore', code: 'conflict' }]);
    const bulk = { items: [{ item_id: item.item_id, ...row }] };
    const refused = await api.post(`/menus/${menu.menu_id}/availability`, bulk);
    t.match(refused.body.errors, [{ field: '/items/0/restore', code: 'conflict' }]);
  }
  t.equal((await api.put(path, { restore: 'tomorrow' })).status, 422);
});

t.test('an item that does not exist is 404, and one out of reach 403, as always', async (t) => {
  const { path, menu, location_id } = await served();
  t.equal(
    (await api.put(`/menus/${menu.menu_id}/items/9007199254740991`, { restore: 'next_day' })).status,
    404,
  );
  const { location_id: other } = await makeLocation(api);
  const stranger = await service.client({ locations: [other] });
  t.equal((await stranger.put(path, { restore: 'next_day' })).status, 403);
  t.not(location_id, other);
  const category_id = 9_007_199_254_740_991;
  const missing = await api.put(path, { restore: 'next_day', category_id });
  t.match(missing.body.errors, [{ field: '/category_id', code: 'not_found' }]);
  const rows = [{ external_id: 'none', is_available: false, restore: 'next_day' }];
  const bulk = await api.post(`/menus/${menu.menu_id}/availability`, { items: rows });
  t.match(bulk.body.data, [{ result: 'not_found' }]);
});

t.test('each item of a bulk call comes back by its own hours, on every menu of each location', async (t) => {
  const first = await served({ location: daily('09:00', 60) });
  const second = await served({ location: daily('10:00', 60), item: daily('10:30', 60) });
  await makeItem(api, second.category, { external_id: 'B', hours: daily('10:45', 10) });
  await makeItem(api, second.category, { external_id: 'C' });
  const response = await api.post(`/locations/${first.location_id}/availability`, {
    location_ids: [second.location_id],
    items: [
      { external_id: 'A', is_available: false, restore: 'next_opening' },
      { external_id: 'B', is_available: false, restore: 'next_day' },
      { external_id: 'C', is_available: false },
    ],
  });
  t.equal(response.status, 200, response.text);
  const untils = (response.body.data as { item: { unavailable_until: string } }[]).map(
    ({ item }) => item.unavailable_until,
  );
  t.same(untils, [next('09:00'), next('10:30'), next('00:00'), null]);
  const byMenu = await api.post(`/menus/${second.menu.menu_id}/availability`, {
    items: [{ external_id: 'B', is_available: false, restore: 'next_opening' }],
  });
  t.match(byMenu.body.data, [{ result: 'changed', item: { unavailable_until: next('10:45') } }]);
});
