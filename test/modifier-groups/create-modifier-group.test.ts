import t from 'tap';
import { followEvents } from '../support/events.ts';
import { makeItem, makeLocation, makeModifierGroup, makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database } = service;
const events = await followEvents(database);
const pathOf = ({ location_id }: { location_id: number }) => `/locations/${location_id}/modifier-groups`;

t.test('creates a group with its modifiers, and fires an event for each', async (t) => {
  const location = await makeLocation(api);
  await events.next();
  const body = {
    name: ' Rice ',
    min_selections: 1,
    max_selections: 2,
    free_selections: 1,
    external_id: 'RICE',
    modifiers: [
      { name: 'White', default_quantity: 1, external_id: 'W' },
      { name: 'Brown', price: 0.75, allergens: ['sesame'], dietary_tags: ['vegan'] },
    ],
  };
  const response = await api.post(pathOf(location), body);
  t.equal(response.status, 201);
  const group = response.body.data;
  t.match(group, {
    location_id: location.location_id,
    name: 'Rice',
    description: '',
    min_selections: 1,
    max_selections: 2,
    max_per_modifier: 1,
    free_selections: 1,
    external_id: 'RICE',
    version: 1,
  });
  const nothing = {
    description: '',
    unavailable_until: null,
    item_id: null,
    modifier_groups: [],
    version: 1,
  };
  t.match(group.modifiers, [
    { ...nothing, name: 'White', price: 0, default_quantity: 1, external_id: 'W', sort_order: 0 },
    { ...nothing, name: 'Brown', price: 0.75, default_quantity: 0, allergens: ['sesame'], sort_order: 1 },
  ]);
  const path = `${pathOf(location)}/${group.modifier_group_id}`;
  t.equal(response.headers['location'], `/api/v1${path}`);
  const read = await api.get(path);
  t.same(read.body, response.body);
  t.equal(read.headers['etag'], response.headers['etag']);
  const [first, ...others] = await events.next();
  const { modifiers, ...own } = group;
  t.match(first, {
    type: 'modifier_group.created',
    location_id: location.location_id,
    menu_id: null,
    previous: null,
    request_id: response.headers['x-request-id'],
  });
  t.same(first?.['data'], own, 'the modifiers have events of their own');
  t.same(
    others.map(({ type, data }) => ({ type, data })),
    modifiers.map((data: object) => ({ type: 'modifier.created', data })),
  );
});

t.test('accepts a group without modifiers, with nothing but a name', async (t) => {
  const location = await makeLocation(api);
  const { status, body } = await api.post(pathOf(location), { name: 'Notes' });
  t.equal(status, 201);
  t.match(body.data, { min_selections: 0, max_selections: null, max_per_modifier: 1, modifiers: [] });
  await events.next();
});

t.test('refuses numbers that cannot be met, and creates nothing', async (t) => {
  const location = await makeLocation(api);
  await events.next();
  const two = [{ name: 'A' }, { name: 'B' }];
  for (const [body, field] of [
    [{ min_selections: 2, max_selections: 1, modifiers: two }, '/min_selections'],
    [{ min_selections: 1 }, '/min_selections'],
    [{ min_selections: 3, modifiers: two }, '/min_selections'],
    [{ min_selections: 5, max_per_modifier: 2, modifiers: two }, '/min_selections'],
    [
      { max_selections: 1, modifiers: two.map((one) => ({ ...one, default_quantity: 1 })) },
      '/max_selections',
    ],
    [{ modifiers: [{ name: 'A', default_quantity: 2 }] }, '/max_per_modifier'],
  ] as const) {
    const { status, body: problem } = await api.post(pathOf(location), { name: 'Rice', ...body });
    t.equal(status, 422, JSON.stringify(body));
    t.match(problem.errors, [{ field, code: 'unmet' }], JSON.stringify(body));
  }
  t.equal(
    (await api.post(pathOf(location), { name: 'R', max_selections: 0 })).status,
    422,
    '0 is not "no limit"',
  );
  const most = { min_selections: 4, max_selections: 4, max_per_modifier: 2, modifiers: two };
  t.equal(
    (await api.post(pathOf(location), { name: 'Rice', ...most })).status,
    201,
    'what can just be met is fine',
  );
  t.same(await events.nextTypes(), ['modifier_group.created', 'modifier.created', 'modifier.created']);
});

t.test('reports errors in modifiers that no schema can express, each at its place', async (t) => {
  const location = await makeLocation(api);
  const elsewhere = await makeTree(api);
  const past = '2020-01-01T00:00:00Z';
  const { status, body } = await api.post(pathOf(location), {
    name: 'Rice',
    modifiers: [
      { name: 'A', external_id: 'X' },
      { name: 'B', external_id: 'X' },
      { name: 'C', unavailable_until: past },
    ],
  });
  t.equal(status, 422);
  t.match(body.errors, [
    { field: '/modifiers/2/unavailable_until', code: 'past' },
    { field: '/modifiers/1/external_id', code: 'taken' },
  ]);
  const foreign = await api.post(pathOf(location), {
    name: 'Rice',
    modifiers: [{ name: 'A' }, { name: 'B', item_id: elsewhere.item.item_id }],
  });
  t.match(foreign.body.errors, [{ field: '/modifiers/1/item_id', code: 'not_found' }]);
  await makeModifierGroup(api, location.location_id, { external_id: 'SIZE' });
  const taken = await api.post(pathOf(location), { name: 'Again', external_id: 'SIZE' });
  t.match(taken.body.errors, [{ field: '/external_id', code: 'taken' }]);
  const other = await api.post(pathOf(elsewhere.location), { name: 'Again', external_id: 'SIZE' });
  t.equal(other.status, 201, 'it is unique within the location');
  await events.next();
});

t.test('a modifier can stand for an item of the same location, on whatever menu', async (t) => {
  const { location, category } = await makeTree(api);
  const item = await makeItem(api, category);
  const modifiers = [{ name: 'Cola', item_id: item.item_id }];
  const group = await makeModifierGroup(api, location.location_id, { modifiers });
  t.equal(group.modifiers[0].item_id, item.item_id);
  await api.delete(`/menus/${item.menu_id}/items/${item.item_id}`);
  const read = await api.get(`${pathOf(location)}/${group.modifier_group_id}`);
  t.same(read.body.data, group, 'the identifier stays when the item goes');
  await events.next();
});

t.test('a repeat with the same key creates nothing more', async (t) => {
  const location = await makeLocation(api);
  await events.next();
  const headers = { 'idempotency-key': 'sauces-1' };
  const body = { name: 'Sauce', modifiers: [{ name: 'Soy' }] };
  const [first, second] = [
    await api.post(pathOf(location), body, { headers }),
    await api.post(pathOf(location), body, { headers }),
  ];
  t.equal(first.text, second.text);
  t.equal(second.headers['idempotency-replayed'], 'true');
  t.same(await events.nextTypes(), ['modifier_group.created', 'modifier.created']);
  t.same((await api.get(pathOf(location))).body.data, [first.body.data]);
});

t.test('a location has 500 groups at most, however many are created at once', async (t) => {
  const location = await makeLocation(api);
  await database
    .insertInto('modifier_group')
    .columns(['account_id', 'location_id', 'name'])
    .expression((db) =>
      db
        .selectFrom('location')
        .crossJoin((eb) => eb.fn<{ n: number }>('generate_series', [eb.lit(1), eb.lit(498)]).as('n'))
        .select(['account_id', 'location_id', 'location.name'])
        .where('location_id', '=', location.location_id),
    )
    .execute();
  const responses = await Promise.all(
    [1, 2, 3, 4].map((n) => api.post(pathOf(location), { name: `Group ${n}` })),
  );
  t.same(responses.map(({ status }) => status).sort(), [201, 201, 422, 422]);
  const refused = responses.find(({ status }) => status === 422);
  t.match(refused?.body.errors, [{ field: '', code: 'too_many' }]);
  await events.next();
});
