import { sql } from 'kysely';
import t from 'tap';
import { decimalsOf } from '../../src/locations/currency.ts';
import { followEvents } from '../support/events.ts';
import { makeItem, makeLocation, makeModifierGroup, makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';
import { whileLocked } from '../support/while-locked.ts';

const { api, database } = await startTestService(t);
const json = { 'content-type': 'application/json' };

/** A location with a modifier that costs 1, and how to write prices there exactly as they stand. */
async function makePlace(currency: string) {
  const { location_id } = await makeLocation(api, { currency });
  const group = await makeModifierGroup(api, location_id, { modifiers: [{ name: 'Large', price: 1 }] });
  const locationPath = `/locations/${location_id}`;
  const groups = `${locationPath}/modifier-groups`;
  const modifiers = `${groups}/${group.modifier_group_id}/modifiers`;
  const [modifier] = group.modifiers;
  const path = `${modifiers}/${modifier.modifier_id}`;
  const send = (method: 'POST' | 'PUT', path: string, body: string) =>
    api.call(method, path, { body, headers: json });
  return {
    location_id,
    locationPath,
    group,
    modifier,
    path,
    groups,
    createGroup: (price: string) =>
      send('POST', groups, `{"name":"Size","modifiers":[{"name":"S"},{"name":"L","price":${price}}]}`),
    create: (price: string) => send('POST', modifiers, `{"name":"Huge","price":${price}}`),
    update: (price: string) => send('PUT', path, `{"price":${price}}`),
  };
}

const errorsOf = ({ body }: { body: { errors: { field: string; code: string; message: string }[] } }) =>
  body.errors.map(({ field, code, message }) => `${field} ${code}: ${message}`);

t.test(
  'the price of a modifier has as many decimal places as the currency, and is shown with them',
  async (t) => {
    const table = {
    JPY: { kept: { 480: '480', '480.0': '480', 0: '0' }, refused: ['480.5', '0.01'] },
    EUR: { kept: { 4.5: '4.50', 480: '480.00', 0: '0.00' }, refused: ['4.505', '0.001'] },
    KWD: { kept: { 1.25: '1.250', 999999999.999: '999999999.999', 0: '0.000' }, refused: [] },
  }; // biome-ignore format: a table
    const places = { 0: 'no decimal places', 2: 'at most 2 decimal places' };
    for (const [currency, { kept, refused }] of Object.entries(table)) {
      const { path, groups, createGroup, create, update } = await makePlace(currency);
      for (const [price, shown] of Object.entries(kept))
        for (const [response, status] of [
          [await createGroup(price), 201],
          [await create(price), 201],
          [await update(price), 200],
          [await api.get(path), 200],
        ] as const) {
          t.equal(response.status, status, `${currency} ${price}`);
          t.match(response.text, `"price":${shown},`);
        }
      t.equal((await update('1')).status, 200);
      const before = (await api.get(groups)).text;
      const error = `precision: must have ${places[decimalsOf(currency) as 0]} in ${currency}`;
      const events = await followEvents(database);
      for (const price of refused) {
        t.same(errorsOf(await createGroup(price)), [`/modifiers/1/price ${error}`]);
        t.same(errorsOf(await create(price)), [`/price ${error}`]);
        t.same(errorsOf(await update(price)), [`/price ${error}`]);
      }
      t.same(await events.next(), []);
      t.equal((await api.get(groups)).text, before);
    }
  },
);

t.test('a modifier without a price costs nothing, with the decimal places of the currency', async (t) => {
  const { groups, create } = await makePlace('KWD');
  t.match((await api.post(groups, { name: 'Size', modifiers: [{ name: 'S' }] })).text, '"price":0.000,');
  const { body } = await create('1');
  const path = `${groups}/${body.data.modifier_group_id}/modifiers`;
  t.match((await api.post(path, { name: 'Plain' })).text, '"price":0.000,');
});

t.test(
  'a new group names each price that the currency has no place for, beside what else is wrong',
  async (t) => {
    const { groups } = await makePlace('JPY');
    const modifiers = [1, 2.5, 3.25].map((price, place) => ({ name: `M${place}`, price }));
    const elsewhere = await makeTree(api);
    const { item_id } = await makeItem(api, elsewhere.category);
    const response = await api.post(groups, {
      name: 'Size',
      modifiers: [{ name: 'M', item_id }, ...modifiers],
    });
    t.equal(response.status, 422);
    t.same(errorsOf(response), [
      '/modifiers/0/item_id not_found: is not an item of this location',
      '/modifiers/2/price precision: must have no decimal places in JPY',
      '/modifiers/3/price precision: must have no decimal places in JPY',
    ]);
  },
);

t.test('an update with an invalid price is refused as a whole, with If-Match too', async (t) => {
  const { path, modifier } = await makePlace('JPY');
  const events = await followEvents(database);
  const body = { price: 4.5, name: 'Huge', is_available: false };
  const tag = (await api.get(path)).headers['etag'] as string;
  t.equal((await api.put(path, body, { headers: { 'if-match': tag } })).status, 422);
  t.equal((await api.put(path, body, { headers: { 'if-match': '"1-0"' } })).status, 412);
  t.same((await api.get(path)).body.data, modifier);
  t.same(await events.next(), []);
});

t.test('a modifier price from before its currency limited decimals stays until it changes', async (t) => {
  const { path, modifier, locationPath } = await makePlace('JPY');
  await sql`update modifier set price = 4.50 where modifier_id = ${modifier.modifier_id}`.execute(database);
  const events = await followEvents(database);
  t.equal((await api.put(path, { name: 'Huge', price: 4.5 })).status, 200);
  t.same(
    (await events.next()).map(({ previous }) => previous),
    [{ name: 'Large' }],
  );
  t.match((await api.get(path)).text, '"price":4.50,');
  t.equal((await api.put(path, { is_available: false })).status, 200);
  t.equal((await api.put(locationPath, { currency: 'JPY', name: 'Same' })).status, 200);
  t.equal((await api.put(path, { price: 5 })).status, 200);
  t.match((await api.get(path)).text, '"price":5,');
});

t.test('a currency with fewer decimal places is refused while modifiers have prices with more', async (t) => {
  const { location_id, locationPath, create, createGroup, update } = await makePlace('EUR');
  const { menu_id } = (await api.post('/menus', { location_id, name: 'Evening' })).body.data;
  const { category_id } = (await api.post(`/menus/${menu_id}/categories`, { name: 'Nigiri' })).body.data;
  // Those of another location do not matter.
  await (await makePlace('EUR')).create('4.5');
  const change = (currency: string) => api.put(locationPath, { currency });
  const refusal = (what: string) => [
    `/currency precision: does not fit ${what} more decimal places than JPY`,
  ];
  t.equal((await update('0.99')).status, 200);
  t.same(errorsOf(await change('JPY')), refusal('1 modifier, whose price has'));
  const { body: second } = await create('4.5');
  t.same(errorsOf(await change('JPY')), refusal('2 modifiers, whose prices have'));
  const item = await makeItem(api, { menu_id, category_id }, { price: 4.5 });
  t.same(errorsOf(await change('JPY')), refusal('1 item and 2 modifiers, whose prices have'));
  const { body: group } = await createGroup('1.5');
  t.same(errorsOf(await change('JPY')), refusal('1 item and 3 modifiers, whose prices have'));
  t.equal((await api.get(locationPath)).body.data.currency, 'EUR');
  t.equal((await api.put(`/menus/${menu_id}/items/${item.item_id}`, { price: 5 })).status, 200);
  const groups = `${locationPath}/modifier-groups`;
  t.equal((await api.delete(`${groups}/${group.data.modifier_group_id}`)).status, 204);
  const { modifier_group_id, modifier_id } = second.data;
  t.equal((await api.delete(`${groups}/${modifier_group_id}/modifiers/${modifier_id}`)).status, 204);
  t.equal((await update('1')).status, 200);
  t.equal((await change('JPY')).status, 200);
  t.same(errorsOf(await update('4.5')), ['/price precision: must have no decimal places in JPY']);
  t.equal((await change('KWD')).status, 200);
  t.equal((await update('4.505')).status, 200);
});

t.test('a change of currency and concurrent writes of modifier prices end up consistent', async (t) => {
  for (const what of ['update', 'create', 'createGroup'] as const) {
    const place = await makePlace('EUR');
    const { location_id, locationPath, group, modifier } = place;
    const write = () => place[what]('4.5');

    t.comment(`${what} waits for the currency, and then goes by it`);
    const late = await whileLocked(database, ['location', location_id], [write], (transaction) =>
      sql`update location set currency = 'JPY' where location_id = ${location_id}`.execute(transaction),
    );
    t.same(
      late.map(({ status }) => status),
      [422],
    );
    t.equal((await api.put(locationPath, { currency: 'EUR' })).status, 200);
    // A new group waits for no record but the location.
    if (what === 'createGroup') continue;

    t.comment(`the currency waits for ${what}, and then goes by its price`);
    const both = await whileLocked(
      database,
      what === 'update' ? ['modifier', modifier.modifier_id] : ['modifier_group', group.modifier_group_id],
      [write, () => api.put(locationPath, { currency: 'JPY' })],
    );
    t.same(
      both.map(({ status }) => status),
      [what === 'create' ? 201 : 200, 422],
    );
  }
});
