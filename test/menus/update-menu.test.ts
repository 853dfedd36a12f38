import t from 'tap';
import { followEvents } from '../support/events.ts';
import { makeLocation, makeMenu, makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database } = service;
const events = await followEvents(database);

t.test('changes each field alone; a switch is menu.toggled, anything else menu.updated', async (t) => {
  const { location_id } = await makeLocation(api);
  let menu = await makeMenu(api, location_id);
  const path = `/menus/${menu.menu_id}`;
  await events.next();
  const changes: [object, string, object?][] = [
    [{ name: ' Late\u3000' }, 'menu.updated', { name: 'Late' }],
    [{ description: 'From eleven.' }, 'menu.updated'],
    [{ description: '' }, 'menu.updated'],
    [{ sort_order: 12 }, 'menu.updated'],
    [{ external_id: 'LATE' }, 'menu.updated'],
    [{ external_id: null }, 'menu.updated'],
    [{ is_active: false }, 'menu.toggled'],
    [{ is_active: true }, 'menu.toggled'],
  ];
  for (const [body, type, stored = body] of changes) {
    const about = JSON.stringify(body);
    const response = await api.put(path, body);
    t.equal(response.status, 200, about);
    const { updated_at } = response.body.data;
    t.same(response.body.data, { ...menu, ...stored, version: menu.version + 1, updated_at }, about);
    t.ok(updated_at >= menu.updated_at);
    const [event, ...more] = await events.next();
    t.same(more, []);
    t.match(event, { type, location_id, menu_id: menu.menu_id });
    t.same(event?.['data'], response.body.data);
    const [field] = Object.keys(body) as [string];
    t.same(event?.['previous'], { [field]: menu[field] }, about);
    t.equal((await api.get(path)).headers['etag'], response.headers['etag']);
    menu = response.body.data;
  }
});

t.test('a body that switches and changes fires both, each with all that changed', async (t) => {
  const { location_id } = await makeLocation(api);
  const menu = await makeMenu(api, location_id);
  await events.next();
  const { body } = await api.put(`/menus/${menu.menu_id}`, {
    is_active: false,
    sort_order: 9,
    name: menu.name,
  });
  t.equal(body.data.version, 2, 'one write is one version');
  const both = await events.next();
  t.same(both.map((event) => event['type']).sort(), ['menu.toggled', 'menu.updated']);
  for (const event of both) {
    t.same(event['data'], body.data);
    t.same(event['previous'], { is_active: true, sort_order: menu.sort_order });
  }
});

t.test('changes nothing, not even the ETag, if every value is already the same', async (t) => {
  const { menu } = await makeTree(api);
  const path = `/menus/${menu.menu_id}`;
  const { headers } = await api.get(path);
  await events.next();
  const { name, description, is_active, sort_order, external_id } = menu;
  const response = await api.put(path, { name: ` ${name}`, description, is_active, sort_order, external_id });
  t.equal(response.status, 200);
  t.same(response.body.data, menu);
  t.equal(response.headers['etag'], headers['etag']);
  t.equal((await api.get(path, { headers: { 'if-none-match': String(headers['etag']) } })).status, 304);
  t.same(await events.next(), []);
});

t.test('If-Match covers everything in the menu', async (t) => {
  const { menu, item } = await makeTree(api);
  const path = `/menus/${menu.menu_id}`;
  const tag = async () => String((await api.get(path)).headers['etag']);
  const beforeToggle = await tag();
  await api.post(`${path}/items/${item.item_id}/toggle`);
  await events.next();
  t.equal((await api.put(path, { name: 'New' }, { headers: { 'if-match': beforeToggle } })).status, 412);
  t.equal((await api.put(path, { name: menu.name }, { headers: { 'if-match': beforeToggle } })).status, 412);
  t.same(await events.next(), []);
  const current = await tag();
  t.equal((await api.put(path, { name: 'New' }, { headers: { 'if-match': current } })).status, 200);
  t.equal((await api.put(path, { name: 'Newer' }, { headers: { 'if-match': current } })).status, 412);
  t.equal((await api.get(path)).body.data.name, 'New');
});

t.test('refuses to clear required fields, and fields that clients cannot set', async (t) => {
  const { location_id } = await makeLocation(api);
  const menu = await makeMenu(api, location_id);
  await makeMenu(api, location_id, { external_id: 'TAKEN' });
  await events.next();
  const faults: [object, string, string][] = [
    [{}, '', 'empty'],
    ...['name', 'description', 'is_active', 'sort_order'].map((field): [object, string, string] => [
      { [field]: null },
      `/${field}`,
      'type',
    ]),
    [{ external_id: 'TAKEN' }, '/external_id', 'taken'],
    ...[
      'menu_id',
      'location_id',
      'account_id',
      'version',
      'content_version',
      'created',
      'updated_at',
      'categories',
    ].map((field): [object, string, string] => [{ name: 'Mine', [field]: 1 }, `/${field}`, 'unknown']),
  ];
  for (const [body, field, code] of faults) {
    const response = await api.put(`/menus/${menu.menu_id}`, body);
    t.equal(response.status, 422, JSON.stringify(body));
    t.match(response.body.errors, [{ field, code }], JSON.stringify(body));
  }
  const kept = { ...menu, categories: [], modifier_groups: [] };
  t.same((await api.get(`/menus/${menu.menu_id}`)).body.data, kept);
  t.same(await events.next(), []);
});

t.test('refuses menus that do not exist or lie outside the account, the grant or the scope', async (t) => {
  const { menu } = await makeTree(api);
  const { location_id: granted } = await makeLocation(api);
  await events.next();
  const path = `/menus/${menu.menu_id}`;
  t.equal((await api.put('/menus/999999', { name: 'x' })).status, 404);
  const refused = {
    'another account': await service.client({ account: 'Another' }),
    'another location': await service.client({ locations: [granted] }),
    'the scope for availability': await service.client({ scopes: ['menus:read', 'availability:write'] }),
  };
  for (const [about, client] of Object.entries(refused)) {
    t.equal((await client.put(path, { is_active: false })).status, 403, about);
  }
  t.same(await events.next(), []);
});
