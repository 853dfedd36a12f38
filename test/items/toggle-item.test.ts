import t from 'tap';
import { followEvents } from '../support/events.ts';
import { makeItem, makeLocation, makeMenu, makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database } = service;
const events = await followEvents(database);
const pathOf = (item: { menu_id: number; item_id: number }) => `/menus/${item.menu_id}/items/${item.item_id}`;

t.test('flips is_available and fires item.toggled, with only the scope for availability', async (t) => {
  const { menu, item } = await makeTree(api);
  const kitchen = await service.client({ scopes: ['availability:write'] });
  await events.next();
  for (const is_available of [false, true]) {
    const response = await kitchen.post(`${pathOf(item)}/toggle`);
    t.equal(response.status, 200);
    t.equal(response.body.data.is_available, is_available);
    const [event, ...more] = await events.next();
    t.same(more, []);
    t.match(event, {
      type: 'item.toggled',
      location_id: menu.location_id,
      menu_id: menu.menu_id,
      request_id: response.headers['x-request-id'],
    });
    t.same(event?.['data'], response.body.data);
    t.same(event?.['previous'], { is_available: !is_available });
    const read = await api.get(pathOf(item));
    t.same(read.body, response.body);
    t.equal(read.headers['etag'], response.headers['etag']);
  }
  const now = (await api.get(pathOf(item))).body.data;
  t.same(now, { ...item, version: 3, updated_at: now.updated_at }, 'nothing else has changed');
});

t.test('needs no body and ignores any: without a media type, empty or broken', async (t) => {
  const { item } = await makeTree(api);
  const json = { 'content-type': 'application/json' };
  const bodies: { headers?: Record<string, string>; body?: string }[] = [
    {},
    { headers: json },
    { headers: json, body: '' },
    { headers: json, body: '{}' },
    { headers: json, body: '{"is_available":' },
    { headers: { 'content-type': 'text/plain' }, body: 'toggle' },
  ];
  for (const [index, options] of bodies.entries()) {
    const response = await api.call('POST', `${pathOf(item)}/toggle`, options);
    t.equal(response.status, 200, JSON.stringify(options));
    t.equal(response.body.data.is_available, index % 2 === 1);
  }
  await events.next();
});

t.test('cancels a planned return, and reports it', async (t) => {
  const { category } = await makeTree(api);
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const item = await makeItem(api, category, { unavailable_until: until });
  await events.next();
  const { body } = await api.post(`${pathOf(item)}/toggle`);
  t.match(body.data, { is_available: true, unavailable_until: null });
  const [event] = await events.next();
  t.same(event?.['previous'], { is_available: false, unavailable_until: until });
});

t.test('flips what readers see: an item whose absence is over goes off', async (t) => {
  const { item } = await makeTree(api);
  await database
    .updateTable('item')
    .set({ is_available: false, unavailable_until: new Date(Date.now() - 1_000) })
    .where('item_id', '=', item.item_id)
    .execute();
  t.equal((await api.get(pathOf(item))).body.data.is_available, true);
  await events.next();
  const { body } = await api.post(`${pathOf(item)}/toggle`);
  t.match(body.data, { is_available: false, unavailable_until: null });
  const [event] = await events.next();
  t.same(event?.['previous'], { is_available: true });
});

t.test('flips only the state that If-Match names', async (t) => {
  const { item } = await makeTree(api);
  const tag = String((await api.get(pathOf(item))).headers['etag']);
  await events.next();
  const guarded = { headers: { 'if-match': tag } };
  const responses = await Promise.all(
    Array.from({ length: 10 }, () => api.post(`${pathOf(item)}/toggle`, undefined, guarded)),
  );
  t.same(responses.map(({ status }) => status).toSorted(), [200, ...Array(9).fill(412)]);
  t.match((await api.get(pathOf(item))).body.data, { is_available: false, version: 2 });
  t.same(await events.nextTypes(), ['item.toggled']);
});

t.test('refuses items that do not exist, are in another menu or are out of reach', async (t) => {
  const { menu, item } = await makeTree(api);
  const neighbour = await makeMenu(api, menu.location_id);
  const elsewhere = await makeLocation(api);
  await events.next();
  for (const path of [
    `/menus/${menu.menu_id}/items/999999`,
    `/menus/${neighbour.menu_id}/items/${item.item_id}`,
    `/menus/999999/items/${item.item_id}`,
    `/menus/${menu.menu_id}/items/${item.item_id}x`,
    `/menus/${menu.menu_id}/items/0`,
    `/menus/${menu.menu_id}/items/9007199254740992`,
  ]) {
    t.equal((await api.post(`${path}/toggle`)).status, 404, path);
  }
  const refused = {
    'another account': await service.client({ account: 'Another' }),
    'another location': await service.client({ locations: [elsewhere.location_id] }),
    'no scope for it': await service.client({ scopes: ['menus:read', 'webhooks:manage'] }),
  };
  for (const [about, client] of Object.entries(refused)) {
    t.equal((await client.post(`${pathOf(item)}/toggle`)).status, 403, about);
  }
  t.same((await api.get(pathOf(item))).body.data, item);
  t.same(await events.next(), []);
});

t.test('two hundred concurrent toggles of one item flip it two hundred times', async (t) => {
  const { menu, item } = await makeTree(api);
  const { version } = await database
    .selectFrom('menu')
    .select('content_version as version')
    .where('menu_id', '=', menu.menu_id)
    .executeTakeFirstOrThrow();
  await events.next();
  const responses = await Promise.all(Array.from({ length: 200 }, () => api.post(`${pathOf(item)}/toggle`)));
  t.same([...new Set(responses.map(({ status }) => status))], [200]);

  const now = (await api.get(pathOf(item))).body.data;
  t.match(now, { is_available: true, version: 201 });
  const list = await events.next();
  t.same(
    list.map(({ type, data, previous }) => [type, data.version, data.is_available, previous.is_available]),
    Array.from({ length: 200 }, (_, n) => ['item.toggled', n + 2, n % 2 === 1, n % 2 === 0]),
    'an event for each, in the order of versions',
  );
  t.same(
    responses.map(({ body }) => body.data.version).toSorted((a, b) => a - b),
    list.map(({ data }) => data.version),
    'each answer is the state after its own flip',
  );
  const after = await database
    .selectFrom('menu')
    .select('content_version as version')
    .where('menu_id', '=', menu.menu_id)
    .executeTakeFirstOrThrow();
  t.equal(after.version, version + 200);
});

t.test('concurrent toggles of many items in one menu do not deadlock', async (t) => {
  const { menu, category } = await makeTree(api);
  const items: { item_id: number; menu_id: number }[] = [];
  for (let n = 0; n < 10; n += 1) items.push(await makeItem(api, category));
  await events.next();
  const responses = await Promise.all(
    Array.from({ length: 20 }, () => items)
      .flat()
      .map((item) => api.post(`${pathOf(item)}/toggle`)),
  );
  t.same([...new Set(responses.map(({ status }) => status))], [200]);
  t.equal((await events.next()).length, 200);
  const { categories } = (await api.get(`/menus/${menu.menu_id}`)).body.data;
  t.ok(
    categories[0].items
      .slice(1)
      .every((one: { is_available: boolean; version: number }) => one.is_available && one.version === 21),
  );
});
