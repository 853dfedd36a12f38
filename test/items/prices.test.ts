import { sql } from 'kysely';
import t from 'tap';
import { decimalsOf } from '../../src/locations/currency.ts';
import { followEvents } from '../support/events.ts';
import { makeCategory, makeItem, makeLocation, makeMenu } from '../support/records.ts';
import { startTestService } from '../support/service.ts';
import { whileLocked } from '../support/while-locked.ts';

const service = await startTestService(t);
const { api, database } = service;
const json = { 'content-type': 'application/json' };

/** A location with a menu and a category, and how to write prices there exactly as they stand. */
async function makePlace(currency: string) {
  const location = await makeLocation(api, { currency });
  const menu = await makeMenu(api, location.location_id);
  const category = await makeCategory(api, menu.menu_id);
  const items = `/menus/${menu.menu_id}/items`;
  const text = (price: string) => `{"category_id":${category.category_id},"name":"Pho","price":${price}}`;
  return {
    location,
    menu,
    category,
    locationPath: `/locations/${location.location_id}`,
    contentPath: `/menus/${menu.menu_id}/content`,
    create: (price: string) => api.post(items, undefined, { body: text(price), headers: json }),
    update: (item: { item_id: number }, price: string) =>
      api.put(`${items}/${item.item_id}`, undefined, { body: `{"price":${price}}`, headers: json }),
    read: async (item: { item_id: number }) => (await api.get(`${items}/${item.item_id}`)).text,
  };
}

const errorsOf = ({ body }: { body: { errors: { field: string; code: string; message: string }[] } }) =>
  body.errors.map(({ field, code, message }) => `${field} ${code}: ${message}`);

t.test('a price has as many decimal places as the currency, and is shown with them', async (t) => {
  const table = {
    JPY: { kept: { 480: '480', '480.0': '480', 999999999: '999999999', '1e3': '1000' }, refused: ['480.5', '0.01'] },
    EUR: { kept: { 4.5: '4.50', 480: '480.00', 999999999.99: '999999999.99' }, refused: ['4.505', '0.001'] },
    HUF: { kept: { 1490: '1490.00', 0.5: '0.50' }, refused: ['0.005'] },
    VND: { kept: { 185000: '185000' }, refused: ['185000.5'] },
    KWD: { kept: { 1.25: '1.250', 0.001: '0.001', 999999999.999: '999999999.999' }, refused: ['1.2505'] },
  }; // biome-ignore format: a table
  const places = { 0: 'no decimal places', 2: 'at most 2 decimal places', 3: 'at most 3 decimal places' };
  for (const [currency, { kept, refused }] of Object.entries(table)) {
    const { create, update, read } = await makePlace(currency);
    const item = (await create('1')).body.data;
    for (const [price, shown] of Object.entries(kept)) {
      const created = await create(price);
      t.equal(created.status, 201, `${currency} ${price}`);
      t.match(created.text, `"price":${shown},`);
      t.match((await update(item, price)).text, `"price":${shown},`);
      t.match(await read(item), `"price":${shown},`);
      t.equal((await update(item, '1')).status, 200);
    }
    const error = `/price precision: must have ${places[decimalsOf(currency) as 0]} in ${currency}`;
    for (const price of refused) {
      for (const response of [await create(price), await update(item, price)]) {
        t.equal(response.status, 422, `${currency} ${price}`);
        // What no currency has, the contract refuses.
        if (price !== '1.2505') t.same(errorsOf(response), [error]);
      }
    }
    t.match(await read(item), /"price":1(\.0+)?,/);
  }
});

t.test('a sum of prices that binary cannot represent is exact', async (t) => {
  const { location, create } = await makePlace('KWD');
  await create('0.1');
  await create('0.2');
  const { rows } = await sql<{ total: string }>`
    select sum(price)::text as total from item where location_id = ${location.location_id}`.execute(database);
  t.same(rows, [{ total: '0.300' }]);
});

t.test(
  'an update beside the price is refused as a whole, with If-Match and among many fields, too',
  async (t) => {
    const { menu, category } = await makePlace('JPY');
    const item = await makeItem(api, category, { price: 450 });
    const path = `/menus/${menu.menu_id}/items/${item.item_id}`;
    const events = await followEvents(database);
    for (const body of [
      { price: 4.5, name: 'Tuna' },
      { price: 4.5, name: 'Tuna', description: 'Lean.', is_available: false, sort_order: 9 },
    ]) {
      const tag = (await api.get(path)).headers['etag'] as string;
      t.equal((await api.put(path, body, { headers: { 'if-match': tag } })).status, 422);
      t.equal((await api.put(path, body, { headers: { 'if-match': '"1-0"' } })).status, 412);
    }
    t.same((await api.get(path)).body.data, item);
    t.same(await events.next(), []);
  },
);

t.test('a price from before its currency limited decimals stays until it changes', async (t) => {
  const { menu, category, contentPath, locationPath } = await makePlace('JPY');
  const item = await makeItem(api, category, { price: 4, external_id: 'S' });
  const path = `/menus/${menu.menu_id}/items/${item.item_id}`;
  await sql`update item set price = 4.50 where item_id = ${item.item_id}`.execute(database);
  const events = await followEvents(database);
  t.equal((await api.put(path, { name: 'Tuna', price: 4.5 })).status, 200);
  t.same(
    (await events.next()).map(({ previous }) => previous),
    [{ name: 'Salmon' }],
  );
  t.match((await api.get(path)).text, '"price":4.50,');
  for (const accept of ['application/json', 'text/csv']) {
    const { text } = await api.get(contentPath, { headers: { accept } });
    const send = (body: string) =>
      api.call('PUT', contentPath, { body, headers: { 'content-type': accept } });
    t.match((await send(text)).body.data.items, { updated: [], unchanged: 1 });
    t.equal((await send(text.replace('4.5', '5.5'))).status, 422);
    const name = `Tuna ${accept}`;
    t.equal((await send(text.replace('Tuna', name))).status, 200);
    t.match(
      (await events.next()).map(({ previous }) => previous),
      [{ name: 'Tuna' }],
    );
    t.equal((await api.put(path, { name: 'Tuna' })).status, 200);
    await events.next();
  }
  t.equal((await api.put(locationPath, { currency: 'JPY', name: 'Same' })).status, 200);
  t.equal((await api.put(path, { price: 5 })).status, 200);
  t.match((await api.get(path)).text, '"price":5,');
});

t.test('imports in both forms name each price with too many decimal places for the currency', async (t) => {
  const { contentPath } = await makePlace('JPY');
  const send = (body: string | object) =>
    api.call('PUT', contentPath, {
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'content-type': typeof body === 'string' ? 'text/csv' : 'application/json' },
    });
  const items = [1, 2.5, 3.25].map((price, index) => ({ external_id: `I${index}`, name: 'X', price }));
  t.same(errorsOf(await send({ data: { categories: [{ external_id: 'C', name: 'C', items }] } })), [
    '/data/categories/0/items/1/price precision: must have no decimal places in JPY',
    '/data/categories/0/items/2/price precision: must have no decimal places in JPY',
  ]);
  const rows = [
    'record,category_external_id,external_id,name,price',
    'category,C,,C,',
    'item,C,I,X,1.00',
    'item,C,J,X,2.5',
  ];
  t.same(errorsOf(await send(rows.join('\n'))), [
    'line 4, price precision: must have no decimal places in JPY',
  ]);
  t.equal((await send(rows.slice(0, 3).join('\n'))).status, 200);
  t.match((await api.get(contentPath)).text, '"price":1,');
  t.match((await api.get(contentPath, { headers: { accept: 'text/csv' } })).text, ',X,,1,');
});

t.test('an import that has waited uses the currency and the prices that it then finds', async (t) => {
  const { location, category, contentPath, create, update } = await makePlace('EUR');
  const { body } = await create('1');
  const item = body.data;
  const send = (price: number) => () =>
    api.put(contentPath, {
      data: {
        categories: [{ category_id: category.category_id, items: [{ item_id: item.item_id, price }] }],
      },
    });
  const [changed] = await whileLocked(database, ['category', category.category_id], [send(3)], async () =>
    t.equal((await update(item, '2')).status, 200),
  );
  t.match(changed?.body.data.items.updated, [{ old: { price: 2 }, new: { price: 3 } }]);
  const [refused] = await whileLocked(
    database,
    ['location', location.location_id],
    [send(2.5)],
    (transaction) =>
      sql`update location set currency = 'JPY' where location_id = ${location.location_id}`.execute(
        transaction,
      ),
  );
  t.equal(refused?.status, 422);
  t.same(refused && errorsOf(refused), [
    '/data/categories/0/items/0/price precision: must have no decimal places in JPY',
  ]);
});

t.test('export and import keep the three decimal places of a currency that has them', async (t) => {
  const { contentPath, category } = await makePlace('KWD');
  for (const price of [0.001, 1.25, 999999999.999]) await makeItem(api, category, { price });
  for (const accept of ['application/json', 'text/csv']) {
    const { text } = await api.get(contentPath, { headers: { accept } });
    for (const shown of ['0.001', '1.250', '999999999.999']) t.match(text, shown);
    const { body } = await api.call('PUT', contentPath, { body: text, headers: { 'content-type': accept } });
    t.match(body.data.items, { created: [], updated: [], deleted: [], unchanged: 3 });
  }
  const { text } = await api.get(contentPath);
  const dry = await api.put(`${contentPath}?dry_run=true`, undefined, {
    body: text.replace('1.250', '1.5'),
    headers: json,
  });
  t.match(dry.text, '"old":{"price":1.250},"new":{"price":1.500}');
});

t.test('a currency with fewer decimal places is refused while prices have more', async (t) => {
  const { locationPath, category, create, update } = await makePlace('EUR');
  const [whole, cents, more] = await Promise.all(
    ['4.00', '4.50', '0.99'].map(async (price) => (await create(price)).body.data),
  );
  const events = await followEvents(database);
  const change = (currency: string) => api.put(locationPath, { currency, phone: '+81 3 1234 5678' });
  t.same(errorsOf(await change('JPY')), [
    '/currency precision: does not fit 2 items, whose prices have more decimal places than JPY',
  ]);
  t.equal((await update(more, '1')).status, 200);
  t.same(errorsOf(await change('JPY')), [
    '/currency precision: does not fit 1 item, whose price has more decimal places than JPY',
  ]);
  t.match((await api.get(locationPath)).body.data, { currency: 'EUR', phone: null });
  t.equal((await update(cents, '5')).status, 200);
  await events.next();
  t.equal((await change('JPY')).status, 200);
  t.match(await events.next(), [{ type: 'location.updated', previous: { currency: 'EUR', phone: null } }]);
  t.same(errorsOf(await update(whole, '4.5')), ['/price precision: must have no decimal places in JPY']);
  t.equal((await change('KWD')).status, 200);
  t.equal((await update(whole, '4.505')).status, 200);
  t.equal((await api.put('/locations/999999', { currency: 'JPY' })).status, 404);
  t.ok(category);
});

t.test('a change of currency and concurrent writes of prices end up consistent', async (t) => {
  for (const what of ['update', 'create', 'import'] as const) {
    const place = await makePlace('EUR');
    const { location, menu, locationPath, contentPath } = place;
    const item = (await place.create('1')).body.data;
    const items = [{ item_id: item.item_id, price: 4.5 }];
    const document = { data: { categories: [{ category_id: place.category.category_id, items }] } };
    const write = () => {
      if (what === 'import') return api.put(contentPath, document);
      return what === 'update' ? place.update(item, '4.5') : place.create('4.5');
    };

    t.comment(`${what} waits for the currency, and then goes by it`);
    const late = await whileLocked(database, ['location', location.location_id], [write], (transaction) =>
      sql`update location set currency = 'JPY' where location_id = ${location.location_id}`.execute(
        transaction,
      ),
    );
    t.same(
      late.map(({ status }) => status),
      [422],
    );
    t.equal((await api.put(locationPath, { currency: 'EUR' })).status, 200);

    t.comment(`the currency waits for ${what}, and then goes by its price`);
    const both = await whileLocked(
      database,
      ['menu', menu.menu_id],
      [write, () => api.put(locationPath, { currency: 'JPY' })],
    );
    t.same(
      both.map(({ status }) => status),
      [what === 'create' ? 201 : 200, 422],
    );
  }
});
