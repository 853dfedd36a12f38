import t from 'tap';
import { followEvents } from '../support/events.ts';
import { makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database } = service;
const events = await followEvents(database);

t.test('flips is_active and fires its event, with only the scope for availability', async (t) => {
  const { menu } = await makeTree(api);
  await events.next();
  const kitchen = await service.client({ scopes: ['availability:write'] });
  for (const is_active of [false, true]) {
    const response = await kitchen.post(`/menus/${menu.menu_id}/toggle`);
    t.equal(response.status, 200);
    t.equal(response.body.data.is_active, is_active);
    const [event, ...more] = await events.next();
    t.same(more, []);
    t.match(event, { type: 'menu.toggled', menu_id: menu.menu_id, location_id: menu.location_id });
    t.same(event?.['data'], response.body.data);
    t.same(event?.['previous'], { is_active: !is_active });
    t.equal((await api.get(`/menus/${menu.menu_id}`)).headers['etag'], response.headers['etag']);
  }
  const { categories: _, modifier_groups: __, ...now } = (await api.get(`/menus/${menu.menu_id}`)).body.data;
  t.same(now, { ...menu, version: 3, updated_at: now.updated_at });
});

t.test('is served with and without an empty JSON body', async (t) => {
  const { menu } = await makeTree(api);
  const headers = { 'content-type': 'application/json' };
  t.equal((await api.call('POST', `/menus/${menu.menu_id}/toggle`, { headers })).status, 200);
  t.equal((await api.call('POST', `/menus/${menu.menu_id}/toggle`)).status, 200);
  await events.next();
});

t.test('flips only the state that If-Match names', async (t) => {
  const { menu } = await makeTree(api);
  const path = `/menus/${menu.menu_id}`;
  const tag = String((await api.get(path)).headers['etag']);
  await events.next();
  t.equal((await api.post(`${path}/toggle`, undefined, { headers: { 'if-match': tag } })).status, 200);
  t.equal((await api.post(`${path}/toggle`, undefined, { headers: { 'if-match': tag } })).status, 412);
  t.equal((await api.get(path)).body.data.is_active, false);
  t.same(await events.nextTypes(), ['menu.toggled']);
});

t.test('refuses a menu that does not exist, another account and another scope', async (t) => {
  const { menu } = await makeTree(api);
  await events.next();
  const other = await service.client({ account: 'Another' });
  const reader = await service.client({ scopes: ['menus:read'] });
  t.equal((await api.post('/menus/999999/toggle')).status, 404);
  t.equal((await other.post(`/menus/${menu.menu_id}/toggle`)).status, 403);
  t.equal((await reader.post(`/menus/${menu.menu_id}/toggle`)).status, 403);
  t.same(await events.next(), []);
});

t.test('two hundred toggles at once flip two hundred times, while items inside change', async (t) => {
  const { menu, item } = await makeTree(api);
  const path = `/menus/${menu.menu_id}`;
  await events.next();
  const responses = await Promise.all(
    Array.from({ length: 200 }, (_, index) => [
      api.post(`${path}/toggle`),
      ...(index % 4 === 0 ? [api.post(`${path}/items/${item.item_id}/toggle`)] : []),
    ]).flat(),
  );
  t.same([...new Set(responses.map(({ status }) => status))], [200]);
  const toggles = (await events.next()).filter((event) => event['type'] === 'menu.toggled');
  t.same(
    toggles.map((event) => event['data'].version),
    Array.from({ length: 200 }, (_, index) => index + 2),
  );
  t.match((await api.get(path)).body.data, { is_active: true, version: 201 });
});
