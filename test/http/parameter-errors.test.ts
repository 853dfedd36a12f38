import t from 'tap';
import { listedErrors } from '../../src/http/errors.ts';
import type { ApiResponse } from '../support/api.ts';
import { startTestService } from '../support/service.ts';

const { api } = await startTestService(t);
// One in euros, which have two decimal places.
const { data: locations } = (await api.get('/locations')).body;
const { location_id } = locations.find(({ currency }: { currency: string }) => currency === 'EUR');
const { menu_id } = (await api.get(`/menus?location_id=${location_id}`)).body.data[0];
const { item_id } = (await api.get(`/menus/${menu_id}/items`)).body.data[0];
const menu = `/menus/${menu_id}`;
const path = `${menu}/items/${item_id}`;

const json = { 'content-type': 'application/json' };
const faultsOf = ({ body }: ApiResponse): string[] =>
  body.errors.map(({ field, code }: { field: string; code: string }) => `${field} ${code}`).sort();

t.test('a problem has the fields of RFC 9457 and the contract, and no others', async (t) => {
  const headers = { 'x-request-id': 'mine' };
  const response = await api.put(path, { price: 12.345 }, { headers });
  t.strictSame(response.body, {
    type: 'urn:menu-management:problem:parameter_error',
    title: 'Parameter Error',
    status: 422,
    detail: '/price must have at most 2 decimal places in EUR',
    code: 'parameter_error',
    request_id: 'mine',
    errors: [{ field: '/price', code: 'precision', message: 'must have at most 2 decimal places in EUR' }],
  });
  const missing = await api.get('/menus/9007199254740991', { headers });
  t.strictSame(missing.body, {
    type: 'urn:menu-management:problem:not_found',
    title: 'Record Not Found',
    status: 404,
    detail: 'There is no such menu.',
    code: 'not_found',
    request_id: 'mine',
  });
});

t.test('all errors in a body are reported at once, each with its JSON Pointer', async (t) => {
  const before = (await api.get(path)).body;
  const response = await api.put(path, {
    name: ' ',
    price: -1,
    photo_url: 'ftp://example.com',
    allergens: ['fish', 'fish', ''],
    dietary_tags: [1],
    sort_order: 1.5,
    is_available: 'yes',
    unknown: 1,
    'a/b~c': 1,
  });
  t.equal(response.status, 422);
  const faults = faultsOf(response);
  for (const fault of [
    '/name characters',
    '/price too_small',
    '/photo_url characters',
    '/allergens duplicate',
    '/allergens/2 too_short',
    '/dietary_tags/0 type',
    '/sort_order type',
    '/is_available type',
    '/unknown unknown',
    '/a~1b~0c unknown',
  ]) {
    t.ok(faults.includes(fault), `${fault} is among ${faults}`);
  }
  t.strictSame((await api.get(path)).body, before, 'nothing was changed');
});

t.test('errors in body and query are reported together, unless a header is wrong', async (t) => {
  const call = (headers: Record<string, string>) =>
    api.post('/webhooks?dry_run=true&q=%ff', { url: 5, unknown: 1 }, { headers });
  const response = await call({});
  t.equal(response.status, 422);
  t.strictSame(faultsOf(response), [
    '/unknown unknown',
    '/url type',
    'dry_run unknown',
    'q characters',
    'q unknown',
  ]);
  const refused = await call({ 'idempotency-key': 'x'.repeat(129) });
  t.match(refused, { status: 400, body: { code: 'bad_request', detail: /^idempotency-key / } });
});

t.test('an endless list of errors is cut short', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`field_${index}`, 1]));
  t.equal((await api.put(path, many)).body.errors.length, listedErrors);
  const long = await api.put(path, { [`${'🍣'.repeat(3000)}`]: 1 });
  t.match(long, { status: 422, body: { errors: [{ code: 'unknown' }] } });
  t.ok(long.body.detail.isWellFormed() && long.body.errors[0].field.isWellFormed());
  const surrogate = await api.put(path, undefined, { body: '{"\\ud800":1}', headers: json });
  t.match(surrogate, { status: 422, body: { errors: [{ code: 'unknown' }] } });
  const prototype = await api.put(path, undefined, { body: '{"__proto__":{"price":1}}', headers: json });
  t.strictSame(faultsOf(prototype), ['/__proto__ unknown']);
});

t.test('endless nesting is refused like any other wrong type', async (t) => {
  const deep = `${'['.repeat(60_000)}${']'.repeat(60_000)}`;
  for (const body of [deep, `{"allergens":[${deep},${deep}]}`, `{"name":${deep}}`]) {
    t.equal((await api.put(path, undefined, { body, headers: json })).status, 422);
  }
});

t.test('a body means what it says: nothing in it is converted', async (t) => {
  for (const [body, field] of [
    [{ price: '4.5' }, '/price'],
    [{ price: true }, '/price'],
    [{ price: null }, '/price'],
    [{ is_available: 'true' }, '/is_available'],
    [{ is_available: 1 }, '/is_available'],
    [{ is_available: null }, '/is_available'],
    [{ name: 5 }, '/name'],
    [{ name: null }, '/name'],
    [{ sort_order: '1' }, '/sort_order'],
    [{ category_id: '1' }, '/category_id'],
    [{ allergens: 'fish' }, '/allergens'],
    [{ allergens: null }, '/allergens'],
    [{ allergens: { 0: 'fish' } }, '/allergens'],
  ] as const) {
    const response = await api.put(path, body);
    t.equal(response.status, 422, JSON.stringify(body));
    t.strictSame(faultsOf(response), [`${field} type`]);
  }
  t.strictSame(faultsOf(await api.put(path, {})), [' empty']);
});

t.test('prices are exact: two places are kept, a third is refused, never rounded', async (t) => {
  const put = (price: string) => api.put(path, undefined, { body: `{"price":${price}}`, headers: json });
  const accepted = {
    '0': '0.00', '-0': '0.00', '0.01': '0.01', '0.1': '0.10', '0.29': '0.29', '0.57': '0.57', '1.1': '1.10',
    '4.35': '4.35', '19.990': '19.99', '1e2': '100.00', '5E-1': '0.50', '1.23e1': '12.30',
    '8192.03': '8192.03', '999999.99': '999999.99', '999999999.99': '999999999.99',
  }; // biome-ignore format: a table
  for (const [price, stored] of Object.entries(accepted)) {
    const response = await put(price);
    t.equal(response.status, 200, price);
    t.match(response.text, `"price":${stored}`, `${price} is ${stored} on the wire`);
    t.match((await api.get(path)).text, `"price":${stored}`);
  }
  for (const [price, code] of Object.entries({
    '0.30000000000000004': 'precision', // 0.1 + 0.2
    '12.345': 'precision',
    '1e-3': 'precision',
    '0.290000001': 'precision',
    '19.9900001': 'precision',
    '4e-324': 'precision',
    '-0.01': 'too_small',
    '999999999.991': 'precision',
    '1000000000': 'too_large',
    '999999999.9991': 'too_large',
    '1e308': 'too_large',
    '1e400': 'type',
    '-1e400': 'type',
  })) {
    const response = await put(price);
    t.equal(response.status, 422, price);
    t.ok(faultsOf(response).includes(`/price ${code}`), `${price}: ${faultsOf(response)}`);
  }
});

t.test('whole numbers have their bounds and no fraction', async (t) => {
  const put = (field: string, number: string) =>
    api.put(path, undefined, { body: `{"${field}":${number}}`, headers: json });
  for (const number of ['0', '2147483647', '1e3', '7.0']) {
    t.equal((await put('sort_order', number)).status, 200, number);
  }
  for (const number of ['-1', '2147483648', '1.5', '1e400', '9223372036854775808']) {
    t.equal((await put('sort_order', number)).status, 422, number);
  }
  for (const number of ['0', '9007199254740992', '9007199254740993', '1e400', '9223372036854775808']) {
    t.equal((await put('category_id', number)).status, 422, number);
  }
});

t.test('query values are converted from their one spelling', async (t) => {
  for (const query of [
    'limit=1',
    'limit=1000',
    'limit=%35',
    'is_available=true',
    'is_available=false',
    'dietary_tag=vegan',
    'dietary_tag=vegan&dietary_tag=gluten_free',
    'q=%F0%9F%8D%A3',
    'q=a+b',
    'updated_since=2026-01-01T00:00:00Z',
    'updated_since=2026-01-01T00:00:00.000%2B05:30',
    '',
    '&',
  ]) {
    t.equal((await api.get(`${menu}/items?${query}`)).status, 200, query);
  }
});

t.test('anything else in a query is refused, and the parameter named', async (t) => {
  const refused: Record<string, string[]> = {
    limit: ['', '0', '-1', '1001', '1.0', '1e2', '0x10', '01', '+1', '%201', 'abc', '99999999999999999999'],
    is_available: ['', '1', '0', 'TRUE', 'yes', 'null'],
    category_id: ['', '0', '-1', 'abc', '1.5', '9007199254740992'],
    q: ['', '%00', '%ED%A0%80', '%ff', '%', 'x'.repeat(256)],
    dietary_tag: ['', '%20', 'x'.repeat(65), 'a&dietary_tag='],
    external_id: ['', '%00', 'x'.repeat(256)],
    updated_since: ['', 'yesterday', '2026-01-01', '2026-02-30T00:00:00Z', '2026-01-01T00:00:00'],
    cursor: ['', 'x', '!', '%00', 'bm90IGEgbnVtYmVy', 'MA', 'LTE', 'MS41', 'MWUz', 'x'.repeat(600)],
  };
  for (const [name, values] of Object.entries(refused)) {
    for (const value of values) {
      const response = await api.get(`${menu}/items?${name}=${value}`);
      t.equal(response.status, 422, `${name}=${value.slice(0, 40)}`);
      t.match(response.body.errors[0].field, new RegExp(`^${name}(/\\d+)?$`));
    }
  }
  for (const name of [
    'limit',
    'is_available',
    'category_id',
    'q',
    'external_id',
    'updated_since',
    'cursor',
  ]) {
    const response = await api.get(`${menu}/items?${name}=1&${name}=1`);
    t.match(response, { status: 422, body: { errors: [{ field: name, code: 'type' }] } }, `${name} twice`);
  }
});

t.test(
  'an unknown query parameter is refused, since a misspelt filter would silently not filter',
  async (t) => {
    const lists = ['/locations', '/menus', `${menu}/items`, '/webhooks'];
    for (const path of lists) {
      for (const name of ['is_availible', 'LIMIT', 'limit[]', '__proto__', 'access_token']) {
        const response = await api.get(`${path}?${name}=1`);
        t.match(
          response,
          { status: 422, body: { errors: [{ field: name, code: 'unknown' }] } },
          `${path} ${name}`,
        );
      }
    }
    const several = await api.get(`${menu}/items?limit=0&is_available=1&x=1&y=2`);
    t.strictSame(faultsOf(several), ['is_available type', 'limit too_small', 'x unknown', 'y unknown']);
    const webhook = await api.post('/webhooks?dry_run=true', { url: 'https://127.0.0.1:9/' });
    t.match(webhook, { status: 422, body: { errors: [{ field: 'dry_run', code: 'unknown' }] } });
  },
);

t.test('operations that have no 422 take no query, so they ignore one', async (t) => {
  for (const query of ['x=1', 'limit=0', '%ff', 'q=%00']) {
    t.equal((await api.get(`${menu}?${query}`)).status, 200, `getMenu ${query}`);
    t.equal((await api.get(`${path}?${query}`)).status, 200, `getItem ${query}`);
    t.equal((await api.post(`${path}/toggle?${query}`)).status, 200, `toggleItem ${query}`);
  }
});
