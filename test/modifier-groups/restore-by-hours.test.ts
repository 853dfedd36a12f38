import t from 'tap';
import { daily, next, timezone } from '../support/early-morning.ts';
import { makeLocation, makeModifierGroup } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api } = service;

async function makeModifiers(hours: object | null) {
  const { location_id } = await makeLocation(api, { timezone, hours });
  const modifiers = [{ name: 'Avocado', external_id: 'AVO' }, { name: 'Egg' }];
  const groups = [
    await makeModifierGroup(api, location_id, { modifiers }),
    await makeModifierGroup(api, location_id, { modifiers }),
  ];
  const [{ modifier_group_id, modifiers: made }] = groups;
  return {
    made,
    location_id,
    path: `/locations/${location_id}/modifier-groups/${modifier_group_id}/modifiers/${made[0].modifier_id}`,
    everywhere: `/locations/${location_id}/modifier-availability`,
  };
}

t.test(
  'next_day is the start of the next day of the location, and makes the modifier unavailable',
  async (t) => {
    const { path } = await makeModifiers(null);
    const kitchen = await service.client({ scopes: ['availability:write'] });
    const response = await kitchen.put(path, { restore: 'next_day' });
    t.equal(response.status, 200, response.text);
    t.match(response.body.data, { is_available: false, unavailable_until: next('00:00') });
  },
);

t.test('next_opening is when the hours of the location next begin, whatever else is changed', async (t) => {
  const { path, location_id } = await makeModifiers(daily('09:15', 60));
  const { data } = (await api.put(path, { restore: 'next_opening', name: 'Half an avocado' })).body;
  t.match(data, { is_available: false, name: 'Half an avocado', unavailable_until: next('09:15') });
  await api.put(`/locations/${location_id}`, { hours: daily('17:00', 60) });
  t.equal((await api.get(path)).body.data.unavailable_until, next('09:15'), 'it stays what it was');
});

t.test('each row of a bulk call may name its own return, and comes back everywhere', async (t) => {
  const { made, everywhere } = await makeModifiers(null);
  const response = await api.post(everywhere, {
    modifiers: [
      { external_id: 'AVO', is_available: false, restore: 'next_day' },
      { modifier_id: made[1].modifier_id, is_available: false },
    ],
  });
  t.equal(response.status, 200, response.text);
  t.same(
    response.body.data.map(
      ({ modifier }: { modifier: { unavailable_until: string } }) => modifier.unavailable_until,
    ),
    [next('00:00'), next('00:00'), null],
  );
});

t.test('without a next opening it is 422, and nothing changes', async (t) => {
  for (const hours of [null, { weekly: [] }, daily('00:00', 1440)]) {
    const { path, made, everywhere } = await makeModifiers(hours);
    const refused = await api.put(path, { restore: 'next_opening', name: 'Other' });
    t.equal(refused.status, 422);
    t.match(refused.body.errors, [{ field: '/restore', code: 'no_opening' }]);
    const rows = [
      { modifier_id: made[1].modifier_id, is_available: false, restore: 'next_day' },
      { external_id: 'AVO', is_available: false, restore: 'next_opening' },
    ];
    const bulk = await api.post(everywhere, { modifiers: rows });
    t.match(bulk.body.errors, [{ field: '/modifiers/1/restore', code: 'no_opening' }]);
    t.equal(bulk.body.errors.length, 1);
    t.same((await api.get(path)).body.data, made[0]);
  }
});

t.test('restore excludes unavailable_until and a modifier that is on', async (t) => {
  const { path, made, everywhere } = await makeModifiers(null);
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  for (const other of [
    { unavailable_until: tomorrow },
    { unavailable_until: null },
    { is_available: true },
  ]) {
    const row = { is_available: false, ...other, restore: 'next_day' };
    t.match((await api.put(path, row)).body.errors, [{ field: '/restore', code: 'conflict' }]);
    const bulk = { modifiers: [{ modifier_id: made[0].modifier_id, ...row }] };
    t.match((await api.post(everywhere, bulk)).body.errors, [
      { field: '/modifiers/0/restore', code: 'conflict' },
    ]);
  }
  for (const restore of ['tomorrow', null, 1])
    t.equal((await api.put(path, { restore })).status, 422, String(restore));
});

t.test('a modifier that does not exist is 404, and one out of reach 403, as always', async (t) => {
  const { path, everywhere, location_id } = await makeModifiers(null);
  const restore = { restore: 'next_opening' };
  const missing = path.replace(/\d+$/, '9007199254740991');
  t.equal((await api.put(missing, { restore: 'next_day' })).status, 404);
  const elsewhere = path.replace(/^\/locations\/\d+/, '/locations/9007199254740991');
  t.equal((await api.put(elsewhere, restore)).status, 404);
  const { location_id: other } = await makeLocation(api);
  t.not(location_id, other);
  const stranger = await service.client({ locations: [other] });
  t.equal((await stranger.put(path, restore)).status, 403);
  const foreign = await service.client({ account: 'Another' });
  t.equal((await foreign.put(path, restore)).status, 403);
  const rows = { modifiers: [{ external_id: 'AVO', is_available: false, ...restore }] };
  t.equal((await stranger.post(everywhere, rows)).status, 403);
  t.equal((await foreign.post(everywhere, rows)).status, 403);
  const unknown = { modifiers: [{ external_id: 'NONE', is_available: false, restore: 'next_day' }] };
  t.match((await api.post(everywhere, unknown)).body.data, [{ result: 'not_found' }]);
});
