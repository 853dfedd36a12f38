import t from 'tap';
import { followEvents } from '../support/events.ts';
import { makeLocation, makeMenu } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database } = service;
const events = await followEvents(database);

t.test('deletes a location without menus and reports its last state', async (t) => {
  const location = await makeLocation(api, { external_id: 'GONE' });
  const path = `/locations/${location.location_id}`;
  await events.next();
  const response = await api.delete(path);
  t.equal(response.status, 204);
  const [event, ...more] = await events.next();
  t.same(more, []);
  t.match(event, { type: 'location.deleted', location_id: location.location_id, previous: null });
  t.same(event?.['data'], location);
  t.equal((await api.get(path)).status, 404);
  t.equal((await api.delete(path)).status, 404);
  t.same(await events.next(), []);
  await makeLocation(api, { external_id: 'GONE' });
});

t.test('refuses a location that still has menus, until they are gone', async (t) => {
  const location = await makeLocation(api);
  const menu = await makeMenu(api, location.location_id);
  const path = `/locations/${location.location_id}`;
  await events.next();
  const refused = await api.delete(path);
  t.equal(refused.status, 409);
  t.equal(refused.body.code, 'location_not_empty');
  t.same((await api.get(path)).body.data, location);
  t.same(await events.next(), []);
  await api.delete(`/menus/${menu.menu_id}`);
  t.equal((await api.delete(path)).status, 204);
  t.same(await events.nextTypes(), ['menu.deleted', 'location.deleted']);
});

t.test('deletes only the state that If-Match names', async (t) => {
  const { location_id } = await makeLocation(api);
  const path = `/locations/${location_id}`;
  const stale = String((await api.get(path)).headers['etag']);
  const current = String((await api.put(path, { name: 'Newer' })).headers['etag']);
  await events.next();
  t.equal((await api.delete(path, { headers: { 'if-match': stale } })).status, 412);
  t.same(await events.next(), []);
  t.equal((await api.delete(path, { headers: { 'if-match': current } })).status, 204);
});

t.test('reports 404, 403 and 412 before 409', async (t) => {
  const { location_id } = await makeLocation(api);
  await makeMenu(api, location_id);
  await events.next();
  t.equal((await api.delete('/locations/999999')).status, 404);
  const other = await service.client({ account: 'Another' });
  t.equal((await other.delete(`/locations/${location_id}`)).status, 403);
  t.equal((await api.delete(`/locations/${location_id}`, { headers: { 'if-match': '"0"' } })).status, 412);
  t.same(await events.next(), []);
});

t.test('a menu that is created at the same time either keeps the location or finds none', async (t) => {
  for (let round = 0; round < 20; round += 1) {
    const { location_id } = await makeLocation(api);
    const [made, deleted] = await Promise.all([
      api.post('/menus', { location_id, name: 'Race' }),
      api.delete(`/locations/${location_id}`),
    ]);
    const outcome = `${made.status} ${deleted.status}`;
    t.ok(['201 409', '422 204'].includes(outcome), outcome);
  }
});
