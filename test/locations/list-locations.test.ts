import t from 'tap';
import { makeLocation } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api } = service;

t.test('lists the locations of the account by id, in pages', async (t) => {
  const made = await makeLocation(api);
  const whole = await api.get('/locations');
  t.equal(whole.status, 200);
  t.same(whole.body.data.at(-1), made);
  t.equal(whole.body.next_cursor, null);
  t.equal(whole.headers['link'], undefined);

  const seen: object[] = [];
  let path = '/locations?limit=1';
  for (let pages = 0; path && pages < 20; pages += 1) {
    const { body, headers } = await api.get(path);
    t.equal(body.data.length, 1);
    seen.push(...body.data);
    path = /^<\/api\/v1(.*)>; rel="next"$/.exec(String(headers['link'] ?? ''))?.[1] ?? '';
  }
  t.same(seen, whole.body.data);
});

t.test('shows a client the locations of its grant and account only', async (t) => {
  const made = await makeLocation(api);
  const bound = await service.client({ locations: [made.location_id] });
  t.same((await bound.get('/locations')).body.data, [made]);
  const none = await service.client({ locations: [] });
  t.same((await none.get('/locations')).body.data, []);
  const other = await service.client({ account: 'Another' });
  t.same((await other.get('/locations')).body.data, []);
});

t.test('refuses invalid pages and unknown filters', async (t) => {
  const faults: [string, string, string][] = [
    ['limit=0', 'limit', 'too_small'],
    ['limit=201', 'limit', 'too_large'],
    ['limit=1.5', 'limit', 'type'],
    ['cursor=eyJpZCI6NDJ9', 'cursor', 'cursor'],
    ['currency=JPY', 'currency', 'unknown'],
  ];
  for (const [query, field, code] of faults) {
    const { status, body } = await api.get(`/locations?${query}`);
    t.equal(status, 422, query);
    t.match(body.errors, [{ field, code }], query);
  }
});

t.test('updated_since lists what changed at that time or later, in any offset', async (t) => {
  const first = await makeLocation(api);
  const { body } = await api.put(`/locations/${first.location_id}`, { name: 'Renamed' });
  const since = body.data.updated_at;
  const list = async (moment: string) =>
    (await api.get(`/locations?updated_since=${encodeURIComponent(moment)}`)).body.data;
  t.same(await list(since), [body.data]);
  const east = `${new Date(Date.parse(since) + 2 * 3_600_000).toISOString().slice(0, -1)}+02:00`;
  t.same(await list(east), [body.data]);
  t.same(await list(new Date(Date.parse(since) + 1).toISOString()), []);
  t.ok((await list('2020-01-01T00:00:00Z')).length > 1);
  const refused = await api.get('/locations?updated_since=yesterday');
  t.equal(refused.status, 422);
  t.ok(refused.body.errors.every(({ field }: { field: string }) => field === 'updated_since'));
});
