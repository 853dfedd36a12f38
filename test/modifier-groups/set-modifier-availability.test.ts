import t from 'tap';
import { followEvents } from '../support/events.ts';
import { makeLocation, makeModifierGroup } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database } = service;
const events = await followEvents(database);

// biome-ignore lint/suspicious/noExplicitAny: the contract check has validated it
type Resource = any;

async function makeGroups(count: number): Promise<Resource[]> {
  const location = await makeLocation(api);
  const groups: Resource[] = [];
  for (let n = 0; n < count; n += 1) {
    const modifiers = [{ name: 'Avocado', external_id: 'AVO' }, { name: 'Egg' }];
    groups.push(await makeModifierGroup(api, location.location_id, { modifiers }));
  }
  await events.next();
  return groups;
}

const pathOf = ({ location_id }: Resource) => `/locations/${location_id}/modifier-availability`;

t.test('out of avocado once, everywhere', async (t) => {
  const groups = await makeGroups(3);
  const kitchen = await service.client({ scopes: ['availability:write'] });
  const egg = groups[0].modifiers[1];
  const body = {
    modifiers: [
      { external_id: 'AVO', is_available: false },
      { modifier_id: egg.modifier_id, is_available: true },
      { external_id: 'NONE', is_available: false },
    ],
  };
  const response = await kitchen.post(pathOf(groups[0]), body);
  t.equal(response.status, 200);
  const avocados = groups.map(({ modifiers }) => modifiers[0].modifier_id);
  t.match(response.body.data, [
    ...avocados.map((modifier_id) => ({
      modifier_id,
      external_id: 'AVO',
      result: 'changed',
      modifier: { is_available: false, version: 2 },
    })),
    { modifier_id: egg.modifier_id, external_id: null, result: 'unchanged', modifier: egg },
    { modifier_id: null, external_id: 'NONE', result: 'not_found', modifier: null },
  ]);
  const fired = await events.next();
  t.same(
    fired.map(({ type, previous }) => ({ type, previous })),
    avocados.map(() => ({ type: 'modifier.toggled', previous: { is_available: true } })),
  );
  const again = await api.post(pathOf(groups[0]), body);
  t.same(
    again.body.data.map(({ result }: Resource) => result),
    ['unchanged', 'unchanged', 'unchanged', 'unchanged', 'not_found'],
  );
  t.same(await events.next(), []);
});

t.test('a planned return is kept unless a row says otherwise', async (t) => {
  const [group] = await makeGroups(1);
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const set = async (fields: object) =>
    (await api.post(pathOf(group), { modifiers: [{ external_id: 'AVO', ...fields }] })).body.data[0];
  t.match(await set({ is_available: false, unavailable_until: until }), {
    modifier: { unavailable_until: until },
  });
  t.match(await set({ is_available: false }), {
    result: 'unchanged',
    modifier: { unavailable_until: until },
  });
  t.match(await set({ is_available: false, unavailable_until: null }), {
    modifier: { unavailable_until: null },
  });
  t.same(await events.nextTypes(), ['modifier.toggled', 'modifier.updated']);
});

t.test('refuses rows that make no sense, and changes nothing', async (t) => {
  const [group] = await makeGroups(1);
  const { modifier_id } = group.modifiers[0];
  const off = { is_available: false };
  for (const [rows, code] of [
    [[off], 'required'],
    [[{ modifier_id, external_id: 'AVO', ...off }], 'conflict'],
    [
      [
        { modifier_id, ...off },
        { modifier_id, ...off },
      ],
      'duplicate',
    ],
    [
      [
        { modifier_id, ...off },
        { external_id: 'AVO', ...off },
      ],
      'duplicate',
    ],
    [[{ modifier_id, ...off, unavailable_until: '2020-01-01T00:00:00Z' }], 'past'],
    [[{ modifier_id, is_available: true, unavailable_until: '2090-01-01T00:00:00Z' }], 'conflict'],
  ] as const) {
    const { status, body } = await api.post(pathOf(group), { modifiers: rows });
    t.equal(status, 422, JSON.stringify(rows));
    t.match(body.errors, [{ code }], JSON.stringify(rows));
  }
  t.same(await events.next(), []);
});

t.test('does not reach modifiers of another location, or more than 1,000', async (t) => {
  const [here] = await makeGroups(1);
  const [there] = await makeGroups(1);
  const foreign = await api.post(pathOf(here), {
    modifiers: [{ modifier_id: there.modifiers[0].modifier_id, is_available: false }],
  });
  t.match(foreign.body.data, [{ result: 'not_found', modifier: null }]);
  const modifiers = Array.from({ length: 100 }, (_, n) => ({ name: `M${n}` }));
  for (let n = 0; n < 11; n += 1) await makeModifierGroup(api, here.location_id, { modifiers });
  await database
    .updateTable('modifier')
    .set((eb) => ({ external_id: eb.cast('modifier_id', 'text') }))
    .where('location_id', '=', here.location_id)
    .execute();
  // One identifier in each of so many groups that together they are too many.
  await database.schema.alterTable('modifier').dropConstraint('modifier_external_id').execute();
  await database
    .updateTable('modifier')
    .set({ external_id: 'SALT' })
    .where('location_id', '=', here.location_id)
    .execute();
  const { status, body } = await api.post(pathOf(here), {
    modifiers: [{ external_id: 'SALT', is_available: false }],
  });
  t.equal(status, 422);
  t.match(body.errors, [{ field: '/modifiers', code: 'too_many' }]);
});
