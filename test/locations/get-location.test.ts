import t from 'tap';
import { makeLocation } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api } = service;

t.test('returns the location, or 304 to a client that has the current state', async (t) => {
  const location = await makeLocation(api, { phone: '+81 3 5555 0142' });
  const path = `/locations/${location.location_id}`;
  const { status, body, headers } = await api.get(path);
  t.equal(status, 200);
  t.same(body, { data: location });
  const etag = String(headers['etag']);
  const current = await api.get(path, { headers: { 'if-none-match': etag } });
  t.equal(current.status, 304);
  t.equal(current.text, '');
  await api.put(path, { phone: null });
  t.equal((await api.get(path, { headers: { 'if-none-match': etag } })).status, 200);
});

t.test('refuses locations that do not exist or lie outside the account or the grant', async (t) => {
  const { location_id } = await makeLocation(api);
  const { location_id: outside } = await makeLocation(api);
  for (const id of ['999999', '0', '-1', 'abc', '1e3', '07']) {
    t.equal((await api.get(`/locations/${id}`)).status, 404, id);
  }
  const other = await service.client({ account: 'Another' });
  t.equal((await other.get(`/locations/${location_id}`)).status, 403);
  const bound = await service.client({ locations: [location_id] });
  t.equal((await bound.get(`/locations/${location_id}`)).status, 200);
  t.equal((await bound.get(`/locations/${outside}`)).status, 403);
});
