import t from 'tap';
import { restoreDueModifiers } from '../../src/modifier-groups/restore-modifiers.ts';
import { followEvents } from '../support/events.ts';
import { makeLocation, makeModifierGroup, makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database } = service;
const events = await followEvents(database);

// biome-ignore lint/suspicious/noExplicitAny: the contract check has validated it
type Resource = any;

const groupPath = (group: Resource) =>
  `/locations/${group.location_id}/modifier-groups/${group.modifier_group_id}`;
const pathOf = (group: Resource, modifier: Resource) =>
  `${groupPath(group)}/modifiers/${modifier.modifier_id}`;

async function makeGroup(fields: object = {}): Promise<Resource> {
  const location = await makeLocation(api);
  const group = await makeModifierGroup(api, location.location_id, fields);
  await events.next();
  return group;
}

t.test('a new modifier comes after the last of its group, and fires an event', async (t) => {
  const group = await makeGroup();
  const before = (await api.get(groupPath(group))).headers['etag'];
  const response = await api.post(`${groupPath(group)}/modifiers`, {
    name: ' Huge ',
    price: 3,
    external_id: 'H',
  });
  t.equal(response.status, 201);
  t.match(response.body.data, {
    name: 'Huge',
    price: 3,
    sort_order: 2,
    default_quantity: 0,
    is_available: true,
  });
  const [event, ...more] = await events.next();
  t.same(more, []);
  t.match(event, { type: 'modifier.created', location_id: group.location_id, menu_id: null, previous: null });
  t.same(event?.['data'], response.body.data);
  const own = pathOf(group, response.body.data);
  t.equal(response.headers['location'], `/api/v1${own}`);
  const alone = await api.get(own);
  t.same(alone.body, response.body);
  t.equal(alone.headers['etag'], response.headers['etag']);
  const read = await api.get(groupPath(group));
  t.same(read.body.data, { ...group, modifiers: [...group.modifiers, response.body.data] });
  t.not(read.headers['etag'], before);
});

t.test('a new modifier is refused if its external_id, its default or its item is invalid', async (t) => {
  const group = await makeGroup({
    max_selections: 1,
    modifiers: [{ name: 'A', default_quantity: 1, external_id: 'A' }],
  });
  const elsewhere = await makeTree(api);
  await events.next();
  for (const [body, error] of [
    [{ external_id: 'A' }, { field: '/external_id', code: 'taken' }],
    [
      { default_quantity: 1 },
      {
        field: '/default_quantity',
        code: 'unmet',
        message: 'cannot be met: max_selections is 1, and the default quantities are 2 together',
      },
    ],
    [{ item_id: elsewhere.item.item_id }, { field: '/item_id', code: 'not_found' }],
    [{ unavailable_until: '2020-01-01T00:00:00Z' }, { field: '/unavailable_until', code: 'past' }],
  ] as const) {
    const { status, body: problem } = await api.post(`${groupPath(group)}/modifiers`, { name: 'B', ...body });
    t.equal(status, 422, JSON.stringify(body));
    t.match(problem.errors, [error]);
  }
  t.same(await events.next(), []);
  t.same((await api.get(groupPath(group))).body.data, group, 'nothing has changed');
});

t.test('a group has 100 modifiers at most, however many are created at once', async (t) => {
  const modifiers = Array.from({ length: 99 }, (_, n) => ({ name: `M${n}` }));
  const group = await makeGroup({ modifiers });
  const responses = await Promise.all(
    [1, 2, 3].map((n) => api.post(`${groupPath(group)}/modifiers`, { name: `More ${n}` })),
  );
  t.same(responses.map(({ status }) => status).sort(), [201, 422, 422]);
  t.match(responses.find(({ status }) => status === 422)?.body.errors, [{ code: 'too_many' }]);
  await events.next();
});

t.test('an update changes the fields in the body, with the events of what changed', async (t) => {
  const group = await makeGroup();
  const [modifier] = group.modifiers;
  const priced = await api.put(pathOf(group, modifier), { price: 2.25, name: ' Tiny ' });
  t.match(priced, { status: 200, body: { data: { price: 2.25, name: 'Tiny', version: 2 } } });
  const [updated, ...more] = await events.next();
  t.same(more, []);
  t.match(updated, { type: 'modifier.updated', previous: { price: 0, name: 'Small' } });
  t.same(updated?.['data'], priced.body.data);

  const off = await api.put(pathOf(group, modifier), { is_available: false, price: 3 });
  t.same(await events.nextTypes(), ['modifier.toggled', 'modifier.updated']);
  const same = await api.put(pathOf(group, modifier), { is_available: false, price: 3 });
  t.same(same.body, off.body, 'what is there already changes nothing');
  t.equal(same.headers['etag'], off.headers['etag']);
  t.same(await events.next(), []);

  const until = new Date(Date.now() + 3_600_000).toISOString();
  await api.put(pathOf(group, modifier), { unavailable_until: until });
  t.same(await events.nextTypes(), ['modifier.updated'], 'a planned return alone is no toggle');
  t.match((await api.put(pathOf(group, modifier), { is_available: true })).body.data, {
    unavailable_until: null,
  });
  await events.next();
});

t.test('the scope for availability allows changing the availability and nothing else', async (t) => {
  const group = await makeGroup();
  const [modifier] = group.modifiers;
  const kitchen = await service.client({ scopes: ['availability:write'] });
  t.equal((await kitchen.put(pathOf(group, modifier), { is_available: false })).status, 200);
  const priced = await kitchen.put(pathOf(group, modifier), { is_available: true, price: 1 });
  t.match(priced, { status: 403, body: { code: 'insufficient_scope' } });
  t.equal((await kitchen.post(`${pathOf(group, modifier)}/toggle`)).status, 200);
  t.equal((await kitchen.delete(pathOf(group, modifier))).status, 403);
  await events.next();
});

t.test('a toggle flips what readers see, and reports a planned return that it cancels', async (t) => {
  const group = await makeGroup();
  const [modifier] = group.modifiers;
  for (const is_available of [false, true]) {
    const response = await api.post(`${pathOf(group, modifier)}/toggle`);
    t.match(response, { status: 200, body: { data: { is_available } } });
    const [event, ...more] = await events.next();
    t.same(more, []);
    t.match(event, { type: 'modifier.toggled', menu_id: null, request_id: response.headers['x-request-id'] });
    t.same(event?.['data'], response.body.data);
    t.same(event?.['previous'], { is_available: !is_available });
    t.same((await api.get(groupPath(group))).body.data.modifiers[0], response.body.data);
  }
  const until = new Date(Date.now() + 3_600_000).toISOString();
  await api.put(pathOf(group, modifier), { unavailable_until: until });
  await events.next();
  await api.post(`${pathOf(group, modifier)}/toggle`);
  t.same((await events.next())[0]?.['previous'], { is_available: false, unavailable_until: until });
});

t.test('a toggle of an outdated state is refused, and with a key it happens once', async (t) => {
  const group = await makeGroup();
  const [modifier] = group.modifiers;
  const toggle = (headers: Record<string, string>) =>
    api.post(`${pathOf(group, modifier)}/toggle`, undefined, { headers });
  const first = await toggle({ 'idempotency-key': 'out-1' });
  const again = await toggle({ 'idempotency-key': 'out-1' });
  t.equal(again.text, first.text);
  t.equal((await toggle({ 'if-match': String(first.headers['etag']) })).status, 200);
  t.equal((await toggle({ 'if-match': String(first.headers['etag']) })).status, 412);
  t.same(await events.nextTypes(), ['modifier.toggled', 'modifier.toggled']);
});

t.test('fifty toggles at once are fifty flips, each with its event', async (t) => {
  const group = await makeGroup();
  const [modifier] = group.modifiers;
  const responses = await Promise.all(
    Array.from({ length: 50 }, () => api.post(`${pathOf(group, modifier)}/toggle`)),
  );
  t.same(new Set(responses.map(({ status }) => status)), new Set([200]));
  t.same(
    responses.map(({ body }) => body.data.version).sort((a, b) => a - b),
    Array.from({ length: 50 }, (_, n) => n + 2),
  );
  t.equal((await events.next()).length, 50);
});

t.test('a modifier whose absence is over is on for readers, and then gets its event', async (t) => {
  const group = await makeGroup();
  const [modifier] = group.modifiers;
  await api.post(`${pathOf(group, modifier)}/toggle`);
  const off = await api.get(groupPath(group));
  await events.next();
  const past = new Date(Date.now() - 1_000);
  await database
    .updateTable('modifier')
    .set({ unavailable_until: past })
    .where('modifier_id', '=', modifier.modifier_id)
    .execute();
  const on = await api.get(groupPath(group));
  t.equal(on.body.data.modifiers[0].is_available, true);
  t.not(on.headers['etag'], off.headers['etag']);
  t.equal(await restoreDueModifiers(database), 1);
  t.equal(await restoreDueModifiers(database), 0);
  const [event, ...more] = await events.next();
  t.same(more, []);
  t.match(event, { type: 'modifier.toggled', request_id: null, data: { is_available: true } });
  t.same(event?.['previous'], { is_available: false, unavailable_until: past.toISOString() });
  const restored = await api.get(groupPath(group));
  t.not(restored.headers['etag'], on.headers['etag']);
});

t.test('a modifier is deleted with its last state, unless the group needs it', async (t) => {
  const group = await makeGroup({ min_selections: 1 });
  const [small, large] = group.modifiers;
  const gone = await api.delete(pathOf(group, small));
  t.equal(gone.status, 204);
  const [event, ...more] = await events.next();
  t.same(more, []);
  t.match(event, { type: 'modifier.deleted', data: small, previous: null });
  t.equal((await api.delete(pathOf(group, small))).status, 404);
  const needed = await api.delete(pathOf(group, large));
  t.match(needed, { status: 409, body: { code: 'modifier_required' } });
  t.equal((await api.put(groupPath(group), { min_selections: 0 })).status, 200);
  t.equal((await api.delete(pathOf(group, large), { headers: { 'if-match': '"0"' } })).status, 412);
  t.equal((await api.delete(pathOf(group, large))).status, 204);
  t.same((await api.get(groupPath(group))).body.data.modifiers, []);
  await events.next();
});

t.test('an update of the group must fit its modifiers, and fires its own event', async (t) => {
  const group = await makeGroup({
    modifiers: [
      { name: 'A', default_quantity: 1 },
      { name: 'B', default_quantity: 1 },
    ],
  });
  for (const [body, field] of [
    [{ max_selections: 1 }, '/max_selections'],
    [{ min_selections: 3 }, '/min_selections'],
  ] as const) {
    const refused = await api.put(groupPath(group), body);
    t.match(refused, { status: 422, body: { errors: [{ field, code: 'unmet' }] } }, JSON.stringify(body));
  }
  t.same(await events.next(), []);
  const response = await api.put(groupPath(group), { max_selections: 2, name: ' Sides ' });
  t.same(response.body.data, {
    ...group,
    max_selections: 2,
    name: 'Sides',
    version: 2,
    updated_at: response.body.data.updated_at,
  });
  const [event, ...more] = await events.next();
  t.same(more, []);
  t.match(event, { type: 'modifier_group.updated', menu_id: null });
  t.same(event?.['previous'], { max_selections: null, name: 'Size' });
  const read = await api.get(groupPath(group));
  t.equal(read.headers['etag'], response.headers['etag']);
  const same = await api.put(groupPath(group), { name: 'Sides' });
  t.equal(same.headers['etag'], response.headers['etag']);
  t.same(await events.next(), []);
});

t.test('two changes that only together cannot be met do not both succeed', async (t) => {
  for (let round = 0; round < 10; round += 1) {
    const group = await makeGroup({ modifiers: [{ name: 'A' }, { name: 'B' }] });
    const [first] = group.modifiers;
    const outcomes = await Promise.all([
      api.put(groupPath(group), { min_selections: 2 }),
      api.delete(pathOf(group, first)),
    ]);
    const statuses = outcomes.map(({ status }) => status);
    t.ok(['200,409', '422,204'].includes(String(statuses)), String(statuses));
  }
  await events.next();
});

t.test(
  'updated_since lists the groups that changed at that time or later, or a modifier of them',
  async (t) => {
    const location = await makeLocation(api);
    const [group, other] = [
      await makeModifierGroup(api, location.location_id),
      await makeModifierGroup(api, location.location_id),
    ];
    await makeModifierGroup(api, location.location_id);
    const path = `/locations/${location.location_id}/modifier-groups`;
    const since = async (moment: string): Promise<number[]> => {
      const { body } = await api.get(`${path}?updated_since=${moment}`);
      return body.data.map(({ modifier_group_id }: Resource) => modifier_group_id);
    };
    const toggled = await api.post(`${pathOf(group, group.modifiers[0])}/toggle`);
    t.same(await since(toggled.body.data.updated_at), [group.modifier_group_id], 'a modifier changed');
    const renamed = await api.put(groupPath(other), { name: 'Renamed' });
    t.same(await since(toggled.body.data.updated_at), [group.modifier_group_id, other.modifier_group_id]);
    t.same(await since(renamed.body.data.updated_at), [other.modifier_group_id], 'the group itself changed');
    t.same(await since('2099-01-01T00:00:00Z'), []);
    t.equal((await since('2020-01-01T00:00:00Z')).length, 3);
    await events.next();
  },
);

t.test('groups are listed page by page, and by external_id', async (t) => {
  const location = await makeLocation(api);
  const groups: Resource[] = [];
  for (const n of [1, 2, 3])
    groups.push(await makeModifierGroup(api, location.location_id, { external_id: `G${n}` }));
  const path = `/locations/${location.location_id}/modifier-groups`;
  const first = await api.get(`${path}?limit=2`);
  t.same(first.body.data, groups.slice(0, 2));
  const second = await api.get(`${path}?limit=2&cursor=${first.body.next_cursor}`);
  t.same(second.body, { data: groups.slice(2), next_cursor: null });
  t.same((await api.get(`${path}?external_id=G2`)).body.data, [groups[1]]);
  const headers = { 'if-none-match': String(first.headers['etag']) };
  t.equal((await api.get(`${path}?limit=2`, { headers })).status, 304);
  await api.post(`${pathOf(groups[0], groups[0].modifiers[0])}/toggle`);
  t.equal((await api.get(`${path}?limit=2`, { headers })).status, 200);
  await events.next();
});
