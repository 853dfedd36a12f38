import t from 'tap';
import { followEvents } from '../support/events.ts';
import { makeLocation } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database } = service;
const events = await followEvents(database);
const address = {
  line1: '12 Rue du Bac',
  line2: null,
  city: 'Paris',
  region: null,
  postal_code: '75007',
  country: 'FR',
};

t.test('changes each field alone and reports exactly its old value', async (t) => {
  let location = await makeLocation(api);
  const path = `/locations/${location.location_id}`;
  await events.next();
  const changes: [object, object?][] = [
    [{ name: 'Sakura Paris' }],
    [{ name: ' Sakura Rive Gauche\u3000' }, { name: 'Sakura Rive Gauche' }],
    [{ address }],
    [
      { address: { line1: '1 Rue', city: 'Paris', country: 'FR' } },
      { address: { ...address, line1: '1 Rue', postal_code: null } },
    ],
    [{ address: null }],
    [{ phone: '+33 1 55 55 01 42' }],
    [{ phone: null }],
    [{ timezone: 'Europe/Paris' }],
    [{ currency: 'USD' }],
    [{ external_id: 'PAR-01' }],
    [{ external_id: null }],
  ];
  for (const [body, stored = body] of changes) {
    const about = JSON.stringify(body);
    const response = await api.put(path, body);
    t.equal(response.status, 200, about);
    const { updated_at, ...rest } = response.body.data;
    t.same(rest, { ...withoutTime(location), ...stored, version: location.version + 1 }, about);
    t.ok(updated_at >= location.updated_at);
    const [event, ...more] = await events.next();
    t.same(more, []);
    t.equal(event?.['type'], 'location.updated');
    t.same(event?.['data'], response.body.data);
    const [field] = Object.keys(body) as [string];
    t.same(event?.['previous'], { [field]: location[field] }, about);
    t.equal((await api.get(path)).headers['etag'], response.headers['etag']);
    location = response.body.data;
  }
});

t.test('changes nothing and fires nothing if every value is already the same', async (t) => {
  const location = await makeLocation(api, { address, phone: '1', external_id: 'SAME' });
  await events.next();
  const { name, phone, timezone, currency, external_id } = location;
  const same = { name: ` ${name} `, address, phone, timezone, currency, external_id };
  const response = await api.put(`/locations/${location.location_id}`, same);
  t.equal(response.status, 200);
  t.same(response.body.data, location);
  t.same(await events.next(), []);
});

t.test('If-Match prevents lost updates', async (t) => {
  const location = await makeLocation(api);
  const path = `/locations/${location.location_id}`;
  const { headers } = await api.get(path);
  const tag = String(headers['etag']);
  await events.next();
  t.equal((await api.put(path, { name: 'First' }, { headers: { 'if-match': tag } })).status, 200);
  const late = await api.put(path, { name: 'Second' }, { headers: { 'if-match': tag } });
  t.equal(late.status, 412);
  t.equal((await api.get(path)).body.data.name, 'First');
  t.equal((await api.put(path, { name: 'Third' }, { headers: { 'if-match': `"0", W/${tag}` } })).status, 412);
  t.equal((await api.put(path, { name: 'First' }, { headers: { 'if-match': tag } })).status, 412);
  t.equal((await api.put(path, { name: 'Third' }, { headers: { 'if-match': '*' } })).status, 200);
  t.same(await events.nextTypes(), ['location.updated', 'location.updated']);
});

t.test(
  'refuses an empty body, null where nothing can be cleared, and fields that are not its to set',
  async (t) => {
    const location = await makeLocation(api);
    await makeLocation(api, { external_id: 'TAKEN' });
    await events.next();
    const faults: [object, string, string][] = [
      [{}, '', 'empty'],
      [{ name: null }, '/name', 'type'],
      [{ timezone: null }, '/timezone', 'type'],
      [{ currency: null }, '/currency', 'type'],
      [{ timezone: 'Nowhere/Land' }, '/timezone', 'enum'],
      [{ currency: 'QQQ' }, '/currency', 'enum'],
      [{ address: { ...address, country: 'ZZ' } }, '/address/country', 'enum'],
      [{ address: { ...address, planet: 'Earth' } }, '/address/planet', 'unknown'],
      [{ external_id: 'TAKEN' }, '/external_id', 'taken'],
      ...['location_id', 'account_id', 'version', 'created', 'created_at', 'updated_at'].map(
        (field): [object, string, string] => [{ name: 'Mine', [field]: 1 }, `/${field}`, 'unknown'],
      ),
    ];
    for (const [body, field, code] of faults) {
      const response = await api.put(`/locations/${location.location_id}`, body);
      t.equal(response.status, 422, JSON.stringify(body));
      t.match(response.body.errors, [{ field, code }], JSON.stringify(body));
      t.equal(response.body.errors.length, 1, 'and nothing besides');
    }
    t.same((await api.get(`/locations/${location.location_id}`)).body.data, location);
    t.same(await events.next(), []);
  },
);

t.test('refuses locations that do not exist or lie outside the grant', async (t) => {
  const { location_id } = await makeLocation(api);
  const { location_id: granted } = await makeLocation(api);
  await events.next();
  t.equal((await api.put('/locations/999999', { name: 'x' })).status, 404);
  const other = await service.client({ account: 'Another' });
  t.equal((await other.put(`/locations/${location_id}`, { name: 'x' })).status, 403);
  const bound = await service.client({ locations: [granted] });
  t.equal((await bound.put(`/locations/${location_id}`, { name: 'x' })).status, 403);
  t.equal((await bound.put(`/locations/${granted}`, { name: 'x' })).status, 200);
  t.same(await events.nextTypes(), ['location.updated']);
});

t.test('two hundred concurrent updates are two hundred versions and events, in order', async (t) => {
  const { location_id } = await makeLocation(api);
  await events.next();
  const responses = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      api.put(`/locations/${location_id}`, { name: `Name ${index}` }),
    ),
  );
  t.ok(responses.every(({ status }) => status === 200));
  const versions = (await events.next()).map((event) => event['data'].version);
  t.same(
    versions,
    Array.from({ length: 200 }, (_, index) => index + 2),
  );
});

function withoutTime({ updated_at: _, ...rest }: Record<string, unknown>): Record<string, unknown> {
  return rest;
}
