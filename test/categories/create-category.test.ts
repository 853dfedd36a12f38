import t from 'tap';
import { followEvents } from '../support/events.ts';
import { makeLocation, makeMenu } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database } = service;
const events = await followEvents(database);
const { location_id } = await makeLocation(api);

t.test('creates an empty category with every field, its ETag and its event', async (t) => {
  const { menu_id } = await makeMenu(api, location_id);
  await events.next();
  const body = {
    name: 'Nigiri · 握り',
    description: 'Two pieces each.',
    sort_order: 4,
    external_id: 'NIGIRI',
  };
  const response = await api.post(`/menus/${menu_id}/categories`, body);
  t.equal(response.status, 201);
  const category = response.body.data;
  t.match(category, { ...body, menu_id, version: 1 });
  const path = `/menus/${menu_id}/categories/${category.category_id}`;
  t.equal(response.headers['location'], `/api/v1${path}`);
  const read = await api.get(path);
  t.same(read.body.data, { ...category, items: [] });
  t.equal(read.headers['etag'], response.headers['etag']);
  const [event, ...more] = await events.next();
  t.same(more, []);
  t.match(event, { type: 'category.created', location_id, menu_id, previous: null });
  t.same(event?.['data'], category);
});

t.test('needs only a name, and comes after the last of its menu', async (t) => {
  const { menu_id } = await makeMenu(api, location_id);
  const make = async (fields: object = {}) =>
    (await api.post(`/menus/${menu_id}/categories`, { name: '\u2003Maki\u3000', ...fields })).body.data;
  t.match(await make(), { name: 'Maki', description: '', sort_order: 0, external_id: null });
  t.equal((await make()).sort_order, 1);
  await make({ sort_order: 2147483647 });
  t.equal((await make()).sort_order, 2147483647);
  await events.next();
});

t.test('refuses fields that are missing, wrong, taken or unknown, and fires nothing', async (t) => {
  const { menu_id } = await makeMenu(api, location_id);
  const { menu_id: elsewhere } = await makeMenu(api, location_id);
  t.equal((await api.post(`/menus/${menu_id}/categories`, { name: 'x', external_id: 'A' })).status, 201);
  t.equal((await api.post(`/menus/${elsewhere}/categories`, { name: 'x', external_id: 'A' })).status, 201);
  await events.next();
  const faults: [object, string, string][] = [
    [{ name: undefined }, '/name', 'required'],
    [{ name: '\u00a0' }, '/name', 'characters'],
    [{ description: null }, '/description', 'type'],
    [{ sort_order: '1' }, '/sort_order', 'type'],
    [{ external_id: 'A' }, '/external_id', 'taken'],
    [{ menu_id }, '/menu_id', 'unknown'],
    [{ category_id: 1 }, '/category_id', 'unknown'],
    [{ items: [] }, '/items', 'unknown'],
  ];
  for (const [change, field, code] of faults) {
    const { status, body } = await api.post(`/menus/${menu_id}/categories`, { name: 'Good', ...change });
    t.equal(status, 422, JSON.stringify(change));
    t.match(body.errors, [{ field, code }], JSON.stringify(change));
  }
  t.same(await events.next(), []);
});

t.test('refuses menus that do not exist or are out of reach', async (t) => {
  const { menu_id } = await makeMenu(api, location_id);
  const elsewhere = await makeLocation(api);
  await events.next();
  t.equal((await api.post('/menus/999999/categories', { name: 'x' })).status, 404);
  const other = await service.client({ account: 'Another' });
  const bound = await service.client({ locations: [elsewhere.location_id] });
  t.equal((await other.post(`/menus/${menu_id}/categories`, { name: 'x' })).status, 403);
  t.equal((await bound.post(`/menus/${menu_id}/categories`, { name: 'x' })).status, 403);
  t.same(await events.next(), []);
});

t.test('of many concurrent creates and updates that claim an external_id, one gets it', async (t) => {
  const { menu_id } = await makeMenu(api, location_id);
  const path = `/menus/${menu_id}/categories`;
  const { body } = await api.post(path, { name: 'Old' });
  await events.next();
  const claim = { external_id: 'ONE' };
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      index % 4 === 3
        ? api.put(`${path}/${body.data.category_id}`, claim)
        : api.post(path, { name: 'New', ...claim }),
    ),
  );
  t.same(
    [...new Set(responses.map(({ status }) => status))].filter((status) => ![200, 201, 422].includes(status)),
    [],
  );
  const listed = (await api.get(path)).body.data;
  t.equal(listed.filter((one: { external_id: string }) => one.external_id === 'ONE').length, 1);
  t.equal((await events.next()).length, 1);
});
