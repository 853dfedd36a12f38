import t from 'tap';
import { followEvents } from '../support/events.ts';
import { makeLocation } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database } = service;
const events = await followEvents(database);

t.test('creates an empty menu with every field, its ETag and its event', async (t) => {
  const { location_id } = await makeLocation(api);
  await events.next();
  const body = {
    location_id,
    name: 'Carte du soir',
    description: 'Served from seven\nuntil eleven.',
    is_active: false,
    sort_order: 7,
    external_id: 'EVENING',
  };
  const response = await api.post('/menus', body);
  t.equal(response.status, 201);
  const menu = response.body.data;
  t.match(menu, { ...body, version: 1 });
  t.equal(response.headers['location'], `/api/v1/menus/${menu.menu_id}`);

  const read = await api.get(`/menus/${menu.menu_id}`);
  t.same(read.body.data, { ...menu, categories: [], modifier_groups: [] });
  t.equal(read.headers['etag'], response.headers['etag']);

  const [event, ...more] = await events.next();
  t.same(more, []);
  t.match(event, { type: 'menu.created', location_id, menu_id: menu.menu_id, previous: null });
  t.same(event?.['data'], menu);
});

t.test('needs only a location and a name, and comes after the last menu of the location', async (t) => {
  const { location_id } = await makeLocation(api);
  const make = async (fields: object = {}) =>
    (await api.post('/menus', { location_id, name: '\u2003Lunch \u00a0', ...fields })).body.data;
  t.match(await make(), {
    name: 'Lunch',
    description: '',
    is_active: true,
    sort_order: 0,
    external_id: null,
  });
  t.equal((await make()).sort_order, 1);
  await make({ sort_order: 40 });
  t.equal((await make()).sort_order, 41);
  await make({ sort_order: 2147483647 });
  t.equal((await make()).sort_order, 2147483647);
  await events.next();
});

t.test('refuses a location that the client cannot use, without revealing whether it exists', async (t) => {
  const { location_id: outside } = await makeLocation(api);
  const { location_id: granted } = await makeLocation(api);
  await events.next();
  const bound = await service.client({ locations: [granted] });
  const other = await service.client({ account: 'Another' });
  for (const [client, location_id] of [
    [api, 999_999],
    [bound, outside],
    [other, outside],
  ] as const) {
    const { status, body } = await client.post('/menus', { location_id, name: 'x' });
    t.equal(status, 422);
    t.same(body.errors, [{ field: '/location_id', code: 'not_found', message: 'is not accessible' }]);
  }
  t.equal((await bound.post('/menus', { location_id: granted, name: 'x' })).status, 201);
  t.same(await events.nextTypes(), ['menu.created']);
});

t.test('refuses fields that are missing, wrong, taken or unknown, and fires nothing', async (t) => {
  const { location_id } = await makeLocation(api);
  const { location_id: elsewhere } = await makeLocation(api);
  const good = { location_id, name: 'Menu' };
  t.equal((await api.post('/menus', { ...good, external_id: 'A' })).status, 201);
  t.equal((await api.post('/menus', { ...good, location_id: elsewhere, external_id: 'A' })).status, 201);
  await events.next();
  const faults: [object, string, string][] = [
    [{ location_id: undefined }, '/location_id', 'required'],
    [{ location_id: 0 }, '/location_id', 'too_small'],
    [{ location_id: String(location_id) }, '/location_id', 'type'],
    [{ name: undefined }, '/name', 'required'],
    [{ name: '\t' }, '/name', 'characters'],
    [{ description: null }, '/description', 'type'],
    [{ description: 'x'.repeat(4097) }, '/description', 'too_long'],
    [{ is_active: 'yes' }, '/is_active', 'type'],
    [{ sort_order: -1 }, '/sort_order', 'too_small'],
    [{ sort_order: 2147483648 }, '/sort_order', 'too_large'],
    [{ sort_order: 1.5 }, '/sort_order', 'type'],
    [{ external_id: 'A' }, '/external_id', 'taken'],
    [{ menu_id: 1 }, '/menu_id', 'unknown'],
    [{ content_version: 1 }, '/content_version', 'unknown'],
    [{ categories: [] }, '/categories', 'unknown'],
  ];
  for (const [change, field, code] of faults) {
    const { status, body } = await api.post('/menus', { ...good, ...change });
    t.equal(status, 422, JSON.stringify(change).slice(0, 80));
    t.match(body.errors, [{ field, code }], JSON.stringify(change).slice(0, 80));
  }
  t.same(await events.next(), []);
});
