import t from 'tap';
import { followEvents } from '../support/events.ts';
import { makeCategory, makeLocation, makeMenu, makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database } = service;
const events = await followEvents(database);
const { location, menu, category } = await makeTree(api);
const items = `/menus/${menu.menu_id}/items`;
const { category_id } = category;
await events.next();

t.test('creates an item with every field, its ETag and its event', async (t) => {
  const body = {
    category_id,
    name: '鮭 سلمون',
    description: 'Two pieces,\nhand-pressed.',
    price: 999999.99,
    photo_url: 'https://images.example.com/salmon.jpg',
    allergens: ['fish', 'Soja & Weizen'],
    dietary_tags: ['pescatarian'],
    is_available: true,
    sort_order: 3,
    external_id: 'POS-1042',
    unavailable_until: null,
  };
  const response = await api.post(items, body);
  t.equal(response.status, 201);
  const item = response.body.data;
  t.match(item, { ...body, menu_id: menu.menu_id, version: 1 });
  t.equal(response.headers['location'], `/api/v1${items}/${item.item_id}`);
  const read = await api.get(`${items}/${item.item_id}`);
  t.same(read.body.data, item);
  t.equal(read.headers['etag'], response.headers['etag']);
  const [event, ...more] = await events.next();
  t.same(more, []);
  t.match(event, {
    type: 'item.created',
    location_id: location.location_id,
    menu_id: menu.menu_id,
    previous: null,
    request_id: response.headers['x-request-id'],
  });
  t.same(event?.['data'], item);
});

t.test('needs only a category, a name and a price, and comes after the last of its category', async (t) => {
  const second = await makeCategory(api, menu.menu_id);
  const make = async (fields: object = {}) =>
    (
      await api.post(items, {
        category_id: second.category_id,
        name: '\u3000Tuna\u00a0',
        price: 0,
        ...fields,
      })
    ).body.data;
  t.match(await make(), {
    name: 'Tuna',
    description: '',
    price: 0,
    photo_url: null,
    allergens: [],
    dietary_tags: [],
    is_available: true,
    sort_order: 0,
    external_id: null,
    unavailable_until: null,
  });
  t.equal((await make()).sort_order, 1);
  await make({ sort_order: 2147483647 });
  t.equal((await make()).sort_order, 2147483647);
  await events.next();
});

t.test('an item that is off from the start fires only item.created', async (t) => {
  const good = { category_id, name: 'Off', price: 1 };
  const off = await api.post(items, { ...good, is_available: false });
  t.match(off.body.data, { is_available: false, unavailable_until: null });
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const back = await api.post(items, { ...good, unavailable_until: until });
  t.match(back.body.data, { is_available: false, unavailable_until: until });
  t.same(await events.nextTypes(), ['item.created', 'item.created']);
});

t.test('refuses fields that are missing, wrong, taken or unknown, and fires nothing', async (t) => {
  const neighbour = await makeMenu(api, location.location_id);
  const foreign = await makeCategory(api, neighbour.menu_id);
  const good = { category_id, name: 'Good', price: 1 };
  t.equal((await api.post(items, { ...good, external_id: 'A' })).status, 201);
  await events.next();
  const future = new Date(Date.now() + 3_600_000).toISOString();
  const faults: [object, string, string][] = [
    [{ category_id: undefined }, '/category_id', 'required'],
    [{ category_id: 999_999 }, '/category_id', 'not_found'],
    [{ category_id: foreign.category_id }, '/category_id', 'not_found'],
    [{ name: undefined }, '/name', 'required'],
    [{ name: ' \u2003' }, '/name', 'characters'],
    [{ name: '\ud800' }, '/name', 'characters'],
    [{ name: 'x'.repeat(256) }, '/name', 'too_long'],
    [{ price: undefined }, '/price', 'required'],
    [{ price: '1' }, '/price', 'type'],
    [{ price: -0.01 }, '/price', 'too_small'],
    [{ price: 1_000_000_000 }, '/price', 'too_large'],
    [{ price: 1.005 }, '/price', 'precision'],
    [{ photo_url: 'ftp://example.com/a.jpg' }, '/photo_url', 'characters'],
    [{ allergens: ['fish', 'fish'] }, '/allergens', 'duplicate'],
    [{ allergens: [''] }, '/allergens/0', 'too_short'],
    [{ allergens: null }, '/allergens', 'type'],
    [{ dietary_tags: Array.from({ length: 25 }, (_, n) => `tag ${n}`) }, '/dietary_tags', 'too_many'],
    [{ unavailable_until: '2020-01-01T00:00:00Z' }, '/unavailable_until', 'past'],
    [{ unavailable_until: future, is_available: true }, '/unavailable_until', 'conflict'],
    [{ external_id: 'A' }, '/external_id', 'taken'],
    [{ item_id: 7 }, '/item_id', 'unknown'],
    [{ menu_id: menu.menu_id }, '/menu_id', 'unknown'],
    [{ created: '2020-01-01 00:00:00' }, '/created', 'unknown'],
    [{ version: 7 }, '/version', 'unknown'],
  ];
  for (const [change, field, code] of faults) {
    const about = JSON.stringify(change).slice(0, 80);
    const { status, body } = await api.post(items, { ...good, ...change });
    t.equal(status, 422, about);
    t.ok(
      body.errors.some(
        (error: { field: string; code: string }) => error.field === field && error.code === code,
      ),
      `${about} ${JSON.stringify(body.errors)}`,
    );
  }
  t.same(await events.next(), []);
});

t.test('names all errors at once', async (t) => {
  const { body } = await api.post(items, { name: '', price: -1, colour: 'red' });
  const fields = body.errors.map((error: { field: string }) => error.field);
  for (const field of ['/category_id', '/name', '/price', '/colour']) t.ok(fields.includes(field), field);
});

t.test('refuses menus that do not exist or are out of reach', async (t) => {
  const elsewhere = await makeLocation(api);
  await events.next();
  const good = { category_id, name: 'x', price: 1 };
  t.equal((await api.post('/menus/999999/items', good)).status, 404);
  const other = await service.client({ account: 'Another' });
  const bound = await service.client({ locations: [elsewhere.location_id] });
  t.equal((await other.post(items, good)).status, 403);
  t.equal((await bound.post(items, good)).status, 403);
  t.same(await events.next(), []);
});

t.test('fifty concurrent creates get fifty ids, and their menu counts each', async (t) => {
  const { menu_id } = await makeMenu(api, location.location_id);
  const home = await makeCategory(api, menu_id);
  await events.next();
  const responses = await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      api.post(`/menus/${menu_id}/items`, { category_id: home.category_id, name: `Dish ${n}`, price: n }),
    ),
  );
  t.equal(new Set(responses.map(({ body }) => body.data.item_id)).size, 50);
  t.equal((await events.next()).length, 50);
  t.equal((await api.get(`/menus/${menu_id}`)).body.data.categories[0].items.length, 50);
});
