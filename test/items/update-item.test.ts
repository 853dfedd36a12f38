import t from 'tap';
import { type Event, followEvents } from '../support/events.ts';
import { makeCategory, makeItem, makeLocation, makeMenu, makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database } = service;
const events = await followEvents(database);
const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
const tomorrow = new Date(Date.now() + 86_400_000).toISOString();

const pathOf = (item: { menu_id: number; item_id: number }) => `/menus/${item.menu_id}/items/${item.item_id}`;
const told = (list: Event[]) => list.map((event) => [event['type'], event['previous']]);

t.test('changes each field alone, keeps the others and reports exactly its old value', async (t) => {
  const { menu, item: made } = await makeTree(api);
  const second = await makeCategory(api, menu.menu_id);
  let item = made;
  await events.next();
  const changes: [object, object?][] = [
    [{ category_id: second.category_id }],
    [{ name: '\u3000Lachs\u00a0' }, { name: 'Lachs' }],
    [{ description: 'Zwei Stück.' }],
    [{ description: '' }],
    [{ price: 0.29 }],
    [{ price: 0 }],
    [{ price: 999999.99 }],
    [{ name: '🍣'.repeat(255) }],
    [{ photo_url: 'http://images.example.com/a.jpg?x=1' }],
    [{ photo_url: null }],
    [{ allergens: ['fish', 'Soja'] }],
    [{ allergens: ['Soja', 'fish'] }],
    [{ allergens: [] }],
    [{ dietary_tags: ['halal'] }],
    [{ sort_order: 2147483647 }],
    [{ sort_order: 0 }],
    [{ external_id: 'POS-1' }],
    [{ external_id: null }],
  ];
  for (const [body, stored = body] of changes) {
    const about = JSON.stringify(body);
    const [field] = Object.keys(body) as [string];
    const response = await api.put(pathOf(item), body);
    t.equal(response.status, 200, about);
    const { updated_at } = response.body.data;
    t.same(response.body.data, { ...item, ...stored, version: item.version + 1, updated_at }, about);
    t.ok(updated_at >= item.updated_at);
    const [event, ...more] = await events.next();
    t.same(more, []);
    t.match(event, { type: 'item.updated', location_id: menu.location_id, menu_id: menu.menu_id });
    t.same(event?.['data'], response.body.data);
    t.same(event?.['previous'], { [field]: item[field] }, about);
    const read = await api.get(pathOf(item));
    t.same(read.body.data, response.body.data);
    t.equal(read.headers['etag'], response.headers['etag']);
    item = response.body.data;
  }
});

t.test('changes several fields in one version and one event', async (t) => {
  const { item } = await makeTree(api);
  await events.next();
  const { body } = await api.put(pathOf(item), { name: 'Tuna', price: 6, description: item.description });
  t.equal(body.data.version, 2);
  t.same(told(await events.next()), [['item.updated', { name: item.name, price: item.price }]]);
});

t.test('a switch alone fires item.toggled; with another field, both events fire', async (t) => {
  const { item } = await makeTree(api);
  await events.next();
  await api.put(pathOf(item), { is_available: false });
  t.same(told(await events.next()), [['item.toggled', { is_available: true }]]);
  const { body } = await api.put(pathOf(item), { is_available: true, price: 9 });
  t.equal(body.data.version, 3);
  const both = await events.next();
  t.same(both.map((event) => event['type']).toSorted(), ['item.toggled', 'item.updated']);
  for (const event of both) {
    t.same(event['data'], body.data);
    t.same(event['previous'], { is_available: false, price: item.price });
  }
});

t.test('changes nothing and fires nothing if every value is already the same', async (t) => {
  const { menu, category } = await makeTree(api);
  const item = await makeItem(api, category, { allergens: ['fish'], external_id: 'S', price: 1.1 });
  const menuTag = String((await api.get(`/menus/${menu.menu_id}`)).headers['etag']);
  const { headers } = await api.get(pathOf(item));
  await events.next();
  const { item_id, menu_id, modifier_groups, created, updated_at, version, ...shown } = item;
  const { unavailable_since, unavailable_by, ...fields } = shown;
  const response = await api.put(pathOf(item), { ...fields, name: `  ${item.name}` });
  t.equal(response.status, 200);
  t.same(response.body.data, item);
  t.equal(response.headers['etag'], headers['etag']);
  t.equal((await api.get(`/menus/${menu.menu_id}`, { headers: { 'if-none-match': menuTag } })).status, 304);
  t.same(await events.next(), []);
});

t.test('unavailable_until', async (t) => {
  const { category } = await makeTree(api);

  t.test('turns the item off when it comes alone, as one switch', async (t) => {
    const item = await makeItem(api, category);
    await events.next();
    const { body } = await api.put(pathOf(item), { unavailable_until: inAnHour });
    t.match(body.data, { is_available: false, unavailable_until: inAnHour, version: 2 });
    t.same(told(await events.next()), [['item.toggled', { is_available: true, unavailable_until: null }]]);
  });

  t.test('is item.updated when the item is off already', async (t) => {
    const item = await makeItem(api, category, { is_available: false });
    await events.next();
    await api.put(pathOf(item), { unavailable_until: inAnHour });
    await api.put(pathOf(item), { unavailable_until: tomorrow, is_available: false });
    await api.put(pathOf(item), { unavailable_until: tomorrow });
    await api.put(pathOf(item), { unavailable_until: null });
    t.same(told(await events.next()), [
      ['item.updated', { unavailable_until: null }],
      ['item.updated', { unavailable_until: inAnHour }],
      ['item.updated', { unavailable_until: tomorrow }],
    ]);
    t.match((await api.get(pathOf(item))).body.data, { is_available: false, unavailable_until: null });
  });

  t.test('ends with the absence, and stays while other fields change', async (t) => {
    const item = await makeItem(api, category, { unavailable_until: inAnHour });
    await events.next();
    const priced = await api.put(pathOf(item), { price: 8 });
    t.match(priced.body.data, { is_available: false, unavailable_until: inAnHour });
    const back = await api.put(pathOf(item), { is_available: true });
    t.match(back.body.data, { is_available: true, unavailable_until: null });
    t.same(told(await events.next()), [
      ['item.updated', { price: item.price }],
      ['item.toggled', { is_available: false, unavailable_until: inAnHour }],
    ]);
  });

  t.test('that is null clears nothing on an item that is available', async (t) => {
    const item = await makeItem(api, category);
    await events.next();
    const { body } = await api.put(pathOf(item), { unavailable_until: null });
    t.same(body.data, item);
    t.same(await events.next(), []);
  });

  t.test('takes any offset and shows UTC', async (t) => {
    const item = await makeItem(api, category);
    const local = new Date(Date.parse(inAnHour) - 5 * 3_600_000).toISOString().replace('Z', '-05:00');
    const { body } = await api.put(pathOf(item), { unavailable_until: local });
    t.equal(body.data.unavailable_until, inAnHour);
  });

  t.test('is refused when it is past, or comes with is_available: true', async (t) => {
    const item = await makeItem(api, category);
    await events.next();
    const faults: [object, string[]][] = [
      [{ unavailable_until: '2020-01-01T00:00:00Z' }, ['past']],
      [{ unavailable_until: new Date().toISOString() }, ['past']],
      [{ unavailable_until: tomorrow, is_available: true }, ['conflict']],
      [{ unavailable_until: '2020-01-01T00:00:00Z', is_available: true }, ['conflict', 'past']],
    ];
    for (const [body, codes] of faults) {
      const response = await api.put(pathOf(item), body);
      t.equal(response.status, 422, JSON.stringify(body));
      t.match(
        response.body.errors,
        codes.map((code) => ({ field: '/unavailable_until', code })),
      );
    }
    t.same((await api.get(pathOf(item))).body.data, item);
    t.same(await events.next(), []);
  });
});

t.test('the scope for availability is enough for the two fields of a switch, and for no other', async (t) => {
  const { item } = await makeTree(api);
  const kitchen = await service.client({ scopes: ['availability:write'] });
  await events.next();
  t.equal((await kitchen.put(pathOf(item), { is_available: false })).status, 200);
  t.equal(
    (await kitchen.put(pathOf(item), { is_available: false, unavailable_until: tomorrow })).status,
    200,
  );
  await events.next();
  const before = (await api.get(pathOf(item))).body.data;
  for (const body of [
    { price: 1 },
    { is_available: true, price: 1 },
    { unavailable_until: null, name: 'x' },
  ]) {
    const response = await kitchen.put(pathOf(item), body);
    t.equal(response.status, 403, JSON.stringify(body));
    t.equal(response.body.code, 'insufficient_scope');
  }
  t.equal((await kitchen.put(pathOf(item), {})).status, 422, 'an empty body asks for no scope');
  const reader = await service.client({ scopes: ['menus:read'] });
  t.equal((await reader.put(pathOf(item), { is_available: true })).status, 403);
  t.same((await api.get(pathOf(item))).body.data, before);
  t.same(await events.next(), []);
});

t.test('refuses null for required fields, and fields that clients cannot set', async (t) => {
  const { menu, category, item } = await makeTree(api);
  await makeItem(api, category, { external_id: 'TAKEN' });
  const foreign = await makeCategory(api, (await makeMenu(api, menu.location_id)).menu_id);
  await events.next();
  const required = [
    'category_id',
    'name',
    'description',
    'price',
    'allergens',
    'dietary_tags',
    'is_available',
    'sort_order',
  ];
  const notItsOwn = ['item_id', 'menu_id', 'location_id', 'account_id', 'version', 'created', 'updated_at'];
  const faults: [object, string, string][] = [
    [{}, '', 'empty'],
    ...required.map((field): [object, string, string] => [{ [field]: null }, `/${field}`, 'type']),
    ...notItsOwn.map((field): [object, string, string] => [{ price: 1, [field]: 1 }, `/${field}`, 'unknown']),
    [{ price: 0.001 }, '/price', 'precision'],
    [{ price: 1e9 }, '/price', 'too_large'],
    [{ is_available: 1 }, '/is_available', 'type'],
    [{ is_available: 'false' }, '/is_available', 'type'],
    [{ category_id: 999_999 }, '/category_id', 'not_found'],
    [{ category_id: foreign.category_id }, '/category_id', 'not_found'],
    [{ external_id: 'TAKEN' }, '/external_id', 'taken'],
  ];
  for (const [body, field, code] of faults) {
    const response = await api.put(pathOf(item), body);
    t.equal(response.status, 422, JSON.stringify(body));
    t.ok(
      response.body.errors.some(
        (one: { field: string; code: string }) => one.field === field && one.code === code,
      ),
      `${JSON.stringify(body)} ${JSON.stringify(response.body.errors)}`,
    );
  }
  t.same((await api.get(pathOf(item))).body.data, item);
  t.same(await events.next(), []);
});

t.test('a field that means something to JavaScript or to the code is just an unknown field', async (t) => {
  const { item } = await makeTree(api);
  for (const body of [
    '{"__proto__":{"price":1}}',
    '{"constructor":1}',
    '{"present":["price"]}',
    '{"if_match":null}',
  ]) {
    const response = await api.call('PUT', pathOf(item), {
      body,
      headers: { 'content-type': 'application/json' },
    });
    t.equal(response.status, 422, body);
  }
  t.same((await api.get(pathOf(item))).body.data, item);
});

t.test('If-Match lets one of two writers win, even against no change at all', async (t) => {
  const { item } = await makeTree(api);
  const tag = String((await api.get(pathOf(item))).headers['etag']);
  await events.next();
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      api.put(pathOf(item), { price: 10 + n }, { headers: { 'if-match': tag } }),
    ),
  );
  t.same(responses.map(({ status }) => status).toSorted(), [200, ...Array(19).fill(412)]);
  t.same(await events.nextTypes(), ['item.updated']);
  const { price } = (await api.get(pathOf(item))).body.data;
  t.equal((await api.put(pathOf(item), { price }, { headers: { 'if-match': tag } })).status, 412);
  t.equal((await api.put(pathOf(item), { price }, { headers: { 'if-match': '*' } })).status, 200);
  t.same(await events.next(), []);
});

t.test('refuses items that do not exist, are in another menu or are out of reach', async (t) => {
  const { menu, item } = await makeTree(api);
  const neighbour = await makeMenu(api, menu.location_id);
  const elsewhere = await makeLocation(api);
  await events.next();
  t.equal((await api.put(`/menus/${menu.menu_id}/items/999999`, { price: 1 })).status, 404);
  t.equal((await api.put(`/menus/${neighbour.menu_id}/items/${item.item_id}`, { price: 1 })).status, 404);
  t.equal((await api.put(`/menus/999999/items/${item.item_id}`, { price: 1 })).status, 404);
  const other = await service.client({ account: 'Another' });
  const bound = await service.client({ locations: [elsewhere.location_id] });
  t.equal((await other.put(pathOf(item), { price: 1 })).status, 403);
  t.equal((await bound.put(pathOf(item), { price: 1 })).status, 403);
  t.same(await events.next(), []);
});

t.test('concurrent moves, updates and toggles lose nothing', async (t) => {
  const { menu, category, item } = await makeTree(api);
  const second = await makeCategory(api, menu.menu_id);
  const homes = [category.category_id, second.category_id];
  await events.next();
  const responses = await Promise.all(
    Array.from({ length: 120 }, (_, n) => {
      if (n % 3 === 0) return api.post(`${pathOf(item)}/toggle`);
      if (n % 3 === 1) return api.put(pathOf(item), { category_id: homes[n % 2] });
      return api.put(pathOf(item), { price: n });
    }),
  );
  t.same([...new Set(responses.map(({ status }) => status))], [200]);
  const list = await events.next();
  const versions = list.map((event) => event['data'].version);
  t.same(
    versions,
    versions.map((_, index) => index + 2),
    'versions without a gap, events in their order',
  );
  t.same((await api.get(pathOf(item))).body.data, list.at(-1)?.['data']);
  t.equal(list.filter((event) => event['type'] === 'item.toggled').length, 40);
});
