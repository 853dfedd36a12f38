import t from 'tap';
import { followEvents } from '../support/events.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database } = service;
const events = await followEvents(database);

const tokyo = {
  name: 'サクラ 渋谷店',
  address: {
    line1: '渋谷2-24-12',
    line2: '4F',
    city: '渋谷区',
    region: '東京都',
    postal_code: '150-0002',
    country: 'JP',
  },
  phone: '+81 3 5555 0142',
  timezone: 'Asia/Tokyo',
  currency: 'JPY',
  external_id: 'TYO-01',
};

t.test('creates a location with every field, its address, its ETag and its event', async (t) => {
  const response = await api.post('/locations', tokyo);
  t.equal(response.status, 201);
  const location = response.body.data;
  t.match(location, tokyo);
  t.equal(location.version, 1);
  t.equal(response.headers['location'], `/api/v1/locations/${location.location_id}`);

  const read = await api.get(`/locations/${location.location_id}`);
  t.same(read.body.data, location);
  t.equal(read.headers['etag'], response.headers['etag']);

  const [event, ...more] = await events.next();
  t.same(more, []);
  t.match(event, {
    type: 'location.created',
    location_id: location.location_id,
    menu_id: null,
    previous: null,
    request_id: response.headers['x-request-id'],
  });
  t.same(event?.['data'], location);
});

t.test('needs only a name, a time zone and a currency', async (t) => {
  const { status, body } = await api.post('/locations', {
    name: '\u3000\u00a0 Sakura Brooklyn\u2003 ',
    timezone: 'America/New_York',
    currency: 'USD',
  });
  t.equal(status, 201);
  t.match(body.data, { name: 'Sakura Brooklyn', address: null, phone: null, external_id: null });
  t.same(await events.nextTypes(), ['location.created']);
});

t.test('stores a short address with null for what is left out', async (t) => {
  const address = { line1: ' 1 Main Street ', city: ' Dublin ', country: 'IE' };
  const { body } = await api.post('/locations', {
    name: 'Short',
    timezone: 'Europe/Dublin',
    currency: 'EUR',
    address,
  });
  t.same(body.data.address, {
    line1: '1 Main Street',
    line2: null,
    city: 'Dublin',
    region: null,
    postal_code: null,
    country: 'IE',
  });
  await events.next();
});

t.test('names every code that no standard has', async (t) => {
  const { status, body } = await api.post('/locations', {
    ...tokyo,
    external_id: null,
    timezone: 'Mars/Olympus_Mons',
    currency: 'ZZZ',
    address: { ...tokyo.address, country: 'XX' },
  });
  t.equal(status, 422);
  t.same(
    body.errors.map((error: { field: string; code: string }) => [error.field, error.code]),
    [
      ['/address/country', 'enum'],
      ['/timezone', 'enum'],
      ['/currency', 'enum'],
    ],
  );
  for (const timezone of ['Europe/Kyiv', 'Asia/Kolkata', 'UTC']) {
    t.equal((await api.post('/locations', { ...tokyo, external_id: null, timezone })).status, 201, timezone);
  }
  for (const currency of ['VES', 'VED', 'XCG', 'SLE'])
    t.equal((await api.post('/locations', { ...tokyo, external_id: null, currency })).status, 201, currency);
  for (const timezone of ['asia/tokyo', '+09:00', 'JST9', '']) {
    t.equal((await api.post('/locations', { ...tokyo, external_id: null, timezone })).status, 422, timezone);
  }
  await events.next();
});

t.test('refuses what is missing, blank, too long or unknown, and fires nothing', async (t) => {
  const faults: [object, string, string][] = [
    [{ name: undefined }, '/name', 'required'],
    [{ timezone: undefined }, '/timezone', 'required'],
    [{ currency: undefined }, '/currency', 'required'],
    [{ name: ' \u3000 ' }, '/name', 'characters'],
    [{ name: 'a\nb' }, '/name', 'characters'],
    [{ name: 'x'.repeat(256) }, '/name', 'too_long'],
    [{ name: null }, '/name', 'type'],
    [{ currency: 'yen' }, '/currency', 'characters'],
    [{ external_id: '' }, '/external_id', 'too_short'],
    [{ external_id: 'a\0b' }, '/external_id', 'characters'],
    [{ phone: 5 }, '/phone', 'type'],
    [{ location_id: 1 }, '/location_id', 'unknown'],
    [{ account_id: 1 }, '/account_id', 'unknown'],
    [{ version: 9 }, '/version', 'unknown'],
  ];
  for (const [change, field, code] of faults) {
    const { status, body } = await api.post('/locations', { ...tokyo, external_id: null, ...change });
    t.equal(status, 422, JSON.stringify(change));
    t.match(body.errors, [{ field, code }], JSON.stringify(change));
  }
  t.same(await events.next(), []);
});

t.test('refuses an external_id that another location of the account has', async (t) => {
  const { status, body } = await api.post('/locations', tokyo);
  t.equal(status, 422);
  t.match(body.errors, [{ field: '/external_id', code: 'taken' }]);
  const other = await service.client({ account: 'Another' });
  t.equal((await other.post('/locations', tokyo)).status, 201, 'another account is not in the way');
  t.same(await events.nextTypes(), ['location.created']);
});

t.test('refuses a client that is restricted to certain locations', async (t) => {
  const { body } = await api.get('/locations?limit=1');
  const bound = await service.client({ locations: [body.data[0].location_id] });
  const { status, body: problem } = await bound.post('/locations', { ...tokyo, external_id: 'NEW' });
  t.equal(status, 403);
  t.equal(problem.code, 'forbidden');
  t.same(await events.next(), []);
});
