import t from 'tap';
import { followEvents } from '../support/events.ts';
import { makeCategory, makeMenu, makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database } = service;
const events = await followEvents(database);

t.test('changes each field alone and reports exactly its old value', async (t) => {
  const { menu, category: made } = await makeTree(api);
  let category = made;
  const path = `/menus/${menu.menu_id}/categories/${category.category_id}`;
  await events.next();
  const changes: [object, object?][] = [
    [{ name: ' Maki\u3000' }, { name: 'Maki' }],
    [{ description: 'Six pieces each.' }],
    [{ description: '' }],
    [{ sort_order: 12 }],
    [{ external_id: 'MAKI' }],
    [{ external_id: null }],
  ];
  for (const [body, stored = body] of changes) {
    const about = JSON.stringify(body);
    const response = await api.put(path, body);
    t.equal(response.status, 200, about);
    const { updated_at } = response.body.data;
    t.same(response.body.data, { ...category, ...stored, version: category.version + 1, updated_at }, about);
    const [event, ...more] = await events.next();
    t.same(more, []);
    t.match(event, { type: 'category.updated', location_id: menu.location_id, menu_id: menu.menu_id });
    t.same(event?.['data'], response.body.data);
    const [field] = Object.keys(body) as [string];
    t.same(event?.['previous'], { [field]: category[field] }, about);
    t.equal((await api.get(path)).headers['etag'], response.headers['etag']);
    category = response.body.data;
  }
});

t.test('changes nothing, not even an ETag, if every value is already the same', async (t) => {
  const { menu, category } = await makeTree(api);
  const path = `/menus/${menu.menu_id}/categories/${category.category_id}`;
  const menuTag = String((await api.get(`/menus/${menu.menu_id}`)).headers['etag']);
  const { headers } = await api.get(path);
  await events.next();
  const { name, description, sort_order, external_id } = category;
  const response = await api.put(path, { name: `${name} `, description, sort_order, external_id });
  t.same(response.body.data, category);
  t.equal(response.headers['etag'], headers['etag']);
  t.equal((await api.get(`/menus/${menu.menu_id}`, { headers: { 'if-none-match': menuTag } })).status, 304);
  t.same(await events.next(), []);
});

t.test('If-Match covers the items of the category, and no other', async (t) => {
  const { menu, category, item } = await makeTree(api);
  const path = `/menus/${menu.menu_id}/categories/${category.category_id}`;
  const tag = String((await api.get(path)).headers['etag']);
  await makeCategory(api, menu.menu_id);
  await api.put(`/menus/${menu.menu_id}`, { name: 'Late' });
  const renamed = await api.put(path, { name: 'A' }, { headers: { 'if-match': tag } });
  t.equal(renamed.status, 200);
  t.equal((await api.put(path, { name: 'B' }, { headers: { 'if-match': tag } })).status, 412);
  const newer = String(renamed.headers['etag']);
  await api.post(`/menus/${menu.menu_id}/items/${item.item_id}/toggle`);
  await events.next();
  t.equal((await api.put(path, { name: 'B' }, { headers: { 'if-match': newer } })).status, 412);
  t.equal((await api.get(path)).body.data.name, 'A');
  t.same(await events.next(), []);
});

t.test('refuses to clear required fields, and fields that clients cannot set', async (t) => {
  const { menu, category } = await makeTree(api);
  await makeCategory(api, menu.menu_id, { external_id: 'TAKEN' });
  const path = `/menus/${menu.menu_id}/categories/${category.category_id}`;
  const before = (await api.get(path)).body.data;
  await events.next();
  const faults: [object, string, string][] = [
    [{}, '', 'empty'],
    ...['name', 'description', 'sort_order'].map((field): [object, string, string] => [
      { [field]: null },
      `/${field}`,
      'type',
    ]),
    [{ external_id: 'TAKEN' }, '/external_id', 'taken'],
    ...['menu_id', 'category_id', 'location_id', 'account_id', 'version', 'created', 'items'].map(
      (field): [object, string, string] => [{ name: 'Mine', [field]: 1 }, `/${field}`, 'unknown'],
    ),
  ];
  for (const [body, field, code] of faults) {
    const response = await api.put(path, body);
    t.equal(response.status, 422, JSON.stringify(body));
    t.match(response.body.errors, [{ field, code }], JSON.stringify(body));
  }
  t.same((await api.get(path)).body.data, before);
  t.same(await events.next(), []);
});

t.test('refuses categories that do not exist, are in another menu or are out of reach', async (t) => {
  const { menu, category } = await makeTree(api);
  const neighbour = await makeMenu(api, menu.location_id);
  await events.next();
  const put = (client: typeof api, menu_id: number, category_id: number) =>
    client.put(`/menus/${menu_id}/categories/${category_id}`, { name: 'x' });
  t.equal((await put(api, menu.menu_id, 999_999)).status, 404);
  t.equal((await put(api, neighbour.menu_id, category.category_id)).status, 404);
  const other = await service.client({ account: 'Another' });
  t.equal((await put(other, menu.menu_id, category.category_id)).status, 403);
  t.same(await events.next(), []);
});
