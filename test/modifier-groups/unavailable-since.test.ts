import { sql } from 'kysely';
import t from 'tap';
import { restoreDueModifiers } from '../../src/modifier-groups/restore-modifiers.ts';
import { followEvents } from '../support/events.ts';
import { makeLocation, makeModifierGroup } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database } = service;
const events = await followEvents(database);
const kitchen = await service.client({ scopes: ['availability:write', 'menus:read'] });
const clientOf = async (client: typeof api) => (await client.get('/oauth/client')).body.data.client_id;
const [own, kitchens] = [await clientOf(api), await clientOf(kitchen)];
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();
const on = { unavailable_since: null, unavailable_by: null };

async function makeModifier(fields: object = {}) {
  const { location_id } = await makeLocation(api);
  const group = await makeModifierGroup(api, location_id, { modifiers: [{ name: 'Egg', ...fields }] });
  const [modifier] = group.modifiers;
  const groupPath = `/locations/${location_id}/modifier-groups/${group.modifier_group_id}`;
  return {
    modifier,
    group,
    groupPath,
    path: `${groupPath}/modifiers/${modifier.modifier_id}`,
    everywhere: `/locations/${location_id}/modifier-availability`,
  };
}

/** Lets the planned return pass, and changes nothing else. */
const passReturn = (modifier_id: number) =>
  sql`update modifier set unavailable_until = now() - interval '1 second' where modifier_id = ${modifier_id}`.execute(
    database,
  );

t.test(
  'each way to switch a modifier off notes when and by which client, each way on clears it',
  async (t) => {
    const { modifier, path, everywhere, group, groupPath } = await makeModifier({ external_id: 'E' });
    t.match(modifier, on);
    const rows = (is_available: boolean) => ({ modifiers: [{ external_id: 'E', is_available }] });
    const switches: [name: string, (isOn: boolean) => Promise<unknown>, by: string][] = [
      ['toggleModifier', () => kitchen.post(`${path}/toggle`), kitchens],
      ['updateModifier, a switch', (is_available) => kitchen.put(path, { is_available }), kitchens],
      [
        'updateModifier, more than that',
        (is_available) => api.put(path, { is_available, description: `${is_available}` }),
        own,
      ],
      ['setModifierAvailability', (isOn) => kitchen.post(everywhere, rows(isOn)), kitchens],
    ];
    for (const [name, set, unavailable_by] of switches) {
      await events.next();
      const before = Date.now();
      await set(false);
      const off = (await api.get(path)).body.data;
      t.match(off, { is_available: false, unavailable_by }, name);
      t.ok(Date.parse(off.unavailable_since) >= before - 5_000, 'since now');
      t.same((await api.get(groupPath)).body.data, { ...group, modifiers: [off] }, 'the group shows it');
      const [toggled] = await events.next();
      t.same(toggled?.['data'], off);
      const { is_available, ...previous } = toggled?.['previous'] ?? {};
      t.equal(is_available, true);
      t.notOk('unavailable_since' in previous || 'unavailable_by' in previous, 'they go with the switch');
      await set(true);
      t.match((await api.get(path)).body.data, { is_available: true, ...on });
      t.match((await events.next())[0]?.['data'], on);
    }
  },
);

t.test('a change of a modifier that is off already keeps since when and by whom', async (t) => {
  const { path, modifier, everywhere } = await makeModifier();
  const { unavailable_since, unavailable_by } = (await kitchen.post(`${path}/toggle`)).body.data;
  t.equal(unavailable_by, kitchens);
  const later = [
    await api.put(path, { unavailable_until: inAnHour() }),
    await api.put(path, { name: 'Onsen egg', is_available: false }),
    await api.put(`${path}/modifier-groups`, { modifier_groups: [] }),
    await api.post(everywhere, {
      modifiers: [{ modifier_id: modifier.modifier_id, is_available: false, unavailable_until: null }],
    }),
  ];
  for (const response of later) {
    const shown = response.body.data.modifier_id ? response.body.data : response.body.data[0].modifier;
    t.match(shown, { is_available: false, unavailable_since, unavailable_by });
  }
});

t.test('a modifier that is created off, alone or with its group, says since when and by whom', async (t) => {
  const { modifier, groupPath } = await makeModifier({ is_available: false });
  const later = await api.post(`${groupPath}/modifiers`, { name: 'B', unavailable_until: inAnHour() });
  for (const one of [modifier, later.body.data]) {
    t.match(one, { is_available: false, unavailable_by: own });
    t.equal(typeof one.unavailable_since, 'string');
  }
  t.match((await api.post(`${groupPath}/modifiers`, { name: 'C' })).body.data, on);
});

t.test('both are gone the moment an absence is over, before and after that is recorded', async (t) => {
  const { path, modifier } = await makeModifier({ unavailable_until: inAnHour() });
  await passReturn(modifier.modifier_id);
  t.match((await api.get(path)).body.data, { is_available: true, ...on });
  const again = (await kitchen.put(path, { is_available: false })).body.data;
  t.match(again, { unavailable_by: kitchens }, 'an absence of its own');
  t.not(again.unavailable_since, modifier.unavailable_since);
  await kitchen.put(path, { unavailable_until: inAnHour() });
  await passReturn(modifier.modifier_id);
  await events.next();
  await restoreDueModifiers(database);
  t.match(await events.next(), [{ type: 'modifier.toggled', data: { is_available: true, ...on } }]);
  t.match((await api.get(path)).body.data, on);
});

t.test('a modifier that was off before this was recorded says null', async (t) => {
  const { path, modifier } = await makeModifier();
  await sql`update modifier set is_available = false where modifier_id = ${modifier.modifier_id}`.execute(
    database,
  );
  t.match((await api.get(path)).body.data, { is_available: false, ...on });
  t.match((await api.put(path, { name: 'Still off' })).body.data, { is_available: false, ...on });
});
