import t from 'tap';
import { followEvents } from '../support/events.ts';
import { makeItem, makeLocation, makeMenu, makeModifierGroup, makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database } = service;
const events = await followEvents(database);

// biome-ignore lint/suspicious/noExplicitAny: the contract check has validated it
type Resource = any;

const itemPath = (item: Resource) => `/menus/${item.menu_id}/items/${item.item_id}`;
const groupPath = (group: Resource) =>
  `/locations/${group.location_id}/modifier-groups/${group.modifier_group_id}`;
const modifierPath = (group: Resource, at = 0) =>
  `${groupPath(group)}/modifiers/${group.modifiers[at].modifier_id}`;
const use = (group: Resource, own: object = {}) => ({
  modifier_group_id: group.modifier_group_id,
  min_selections: null,
  max_selections: null,
  ...own,
});
const setUses = (path: string, modifier_groups: object[], headers: Record<string, string> = {}) =>
  api.put(`${path}/modifier-groups`, { modifier_groups }, { headers });

async function makeWorld(groups: number) {
  const tree = await makeTree(api);
  const { location_id } = tree.location;
  const made: Resource[] = [];
  for (let n = 0; n < groups; n += 1)
    made.push(await makeModifierGroup(api, location_id, { name: `Group ${n}` }));
  await events.next();
  return { ...tree, groups: made };
}

t.test('an item shows the groups that it is given, in that order', async (t) => {
  const { item, menu, groups } = await makeWorld(3);
  const [a, b, c] = groups;
  const response = await setUses(itemPath(item), [
    { modifier_group_id: b.modifier_group_id },
    use(a, { max_selections: 1 }),
  ]);
  t.equal(response.status, 200);
  const now = response.body.data;
  t.same(now, {
    ...item,
    modifier_groups: [use(b), use(a, { max_selections: 1 })],
    version: 2,
    updated_at: now.updated_at,
  });
  const [event, ...more] = await events.next();
  t.same(more, []);
  t.match(event, { type: 'item.updated', menu_id: menu.menu_id });
  t.same(event?.['data'], now);
  t.same(event?.['previous'], { modifier_groups: [] });
  const read = await api.get(itemPath(item));
  t.same(read.body.data, now);
  t.equal(read.headers['etag'], response.headers['etag']);
  t.same((await api.get(`/menus/${menu.menu_id}/items`)).body.data, [now]);

  const reordered = await setUses(itemPath(item), [use(c), use(b)]);
  t.same(reordered.body.data.modifier_groups, [use(c), use(b)]);
  t.same((await events.next())[0]?.['previous'], { modifier_groups: now.modifier_groups });
  const same = await setUses(itemPath(item), [use(c), use(b)]);
  t.same(same.body, reordered.body);
  t.equal(same.headers['etag'], reordered.headers['etag']);
  t.same(await events.next(), [], 'what is there already changes nothing');
  t.same((await setUses(itemPath(item), [])).body.data.modifier_groups, []);
  await events.next();
});

t.test('other writes of the item keep its groups', async (t) => {
  const { item, menu, groups } = await makeWorld(1);
  await setUses(itemPath(item), [use(groups[0])]);
  const uses = [use(groups[0])];
  t.same((await api.put(itemPath(item), { price: 5 })).body.data.modifier_groups, uses);
  t.same((await api.post(`${itemPath(item)}/toggle`)).body.data.modifier_groups, uses);
  const { body } = await api.get(`/menus/${menu.menu_id}/content`);
  body.data.categories[0].items[0].price = 6;
  delete body.data.categories[0].items[0].modifier_groups;
  delete body.data.modifier_groups;
  const diff = await api.put(`/menus/${menu.menu_id}/content`, body);
  t.equal(diff.status, 200);
  t.match((await api.get(itemPath(item))).body.data, { price: 6, modifier_groups: uses });
  await events.next();
});

t.test('an outdated state is refused, and so is an invalid list', async (t) => {
  const { item, groups } = await makeWorld(2);
  const [a, b] = groups;
  const elsewhere = await makeModifierGroup(api, (await makeLocation(api)).location_id);
  await api.put(groupPath(b), { max_per_modifier: 1 });
  await events.next();
  const refused = [
    [[use(a), use(a)], '/modifier_groups/1/modifier_group_id', 'duplicate'],
    [[use(a), use(elsewhere)], '/modifier_groups/1/modifier_group_id', 'not_found'],
    [[use(b, { min_selections: 3 })], '/modifier_groups/0/min_selections', 'unmet'],
    [[use(b, { min_selections: 2, max_selections: 1 })], '/modifier_groups/0/min_selections', 'unmet'],
  ] as const;
  for (const [list, field, code] of refused) {
    const { status, body } = await setUses(itemPath(item), [...list]);
    t.equal(status, 422, code);
    t.match(body.errors, [{ field, code }]);
  }
  t.equal((await setUses(itemPath(item), [use(a)], { 'if-match': '"0"' })).status, 412);
  t.equal(
    (
      await setUses(
        itemPath(item),
        Array.from({ length: 21 }, () => use(a)),
      )
    ).status,
    422,
  );
  t.same(await events.next(), []);
  t.same((await api.get(itemPath(item))).body.data, item);
});

t.test('a use with numbers of its own binds later changes of the group', async (t) => {
  const { item, groups } = await makeWorld(1);
  const [group] = groups;
  await setUses(itemPath(item), [use(group, { min_selections: 2 })]);
  const lowered = await api.put(groupPath(group), { max_selections: 1 });
  t.match(lowered, { status: 422, body: { errors: [{ field: '/min_selections', code: 'unmet' }] } });
  t.match(await api.delete(modifierPath(group)), { status: 409, body: { code: 'modifier_required' } });
  await setUses(itemPath(item), [use(group)]);
  t.equal((await api.put(groupPath(group), { max_selections: 1 })).status, 200);
  await events.next();
});

t.test('the uses of a group are listed page by page', async (t) => {
  const { item, category, groups } = await makeWorld(2);
  const [a, b] = groups;
  const other = await makeItem(api, category);
  await setUses(itemPath(item), [use(a, { max_selections: 2 })]);
  await setUses(modifierPath(b), [use(a)]);
  await setUses(itemPath(other), [use(b), use(a)]);
  const first = await api.get(`${groupPath(a)}/uses?limit=2`);
  t.same(first.body.data, [
    {
      item_id: item.item_id,
      menu_id: item.menu_id,
      modifier_id: null,
      modifier_group_id: null,
      min_selections: null,
      max_selections: 2,
    },
    {
      item_id: null,
      menu_id: null,
      modifier_id: b.modifiers[0].modifier_id,
      modifier_group_id: b.modifier_group_id,
      min_selections: null,
      max_selections: null,
    },
  ]);
  await setUses(itemPath(item), [use(b), use(a)]);
  const second = await api.get(`${groupPath(a)}/uses?limit=2&cursor=${first.body.next_cursor}`);
  t.match(
    second.body,
    { data: [{ item_id: other.item_id }], next_cursor: null },
    'a use that stays keeps its place',
  );
  await api.delete(itemPath(other));
  t.equal((await api.get(`${groupPath(a)}/uses`)).body.data.length, 2, 'with an item go its uses');
  await events.next();
});

t.test('a group in use cannot be deleted, unless its uses go with it', async (t) => {
  const { item, menu, groups } = await makeWorld(3);
  const [a, b, c] = groups;
  await setUses(itemPath(item), [use(a), use(b)]);
  await setUses(modifierPath(c), [use(b), use(a)]);
  await events.next();
  const refused = await api.delete(groupPath(a));
  t.match(refused, { status: 409, body: { code: 'modifier_group_in_use' } });
  t.same(await events.next(), []);
  const outdated = await api.delete(`${groupPath(a)}?detach=true`, { headers: { 'if-match': '"0"' } });
  t.equal(outdated.status, 412);
  const before = (await api.get(`/menus/${menu.menu_id}`)).headers['etag'];
  t.equal((await api.delete(`${groupPath(a)}?detach=true`)).status, 204);
  const fired = await events.next();
  t.same(
    fired.map(({ type }) => type),
    ['item.updated', 'modifier.updated', 'modifier.deleted', 'modifier.deleted', 'modifier_group.deleted'],
  );
  t.same(fired[0]?.['previous'], { modifier_groups: [use(a), use(b)] });
  t.same((await api.get(itemPath(item))).body.data.modifier_groups, [use(b)]);
  t.same((await api.get(groupPath(c))).body.data.modifiers[0].modifier_groups, [use(b)]);
  t.equal((await api.get(groupPath(a))).status, 404);
  t.not((await api.get(`/menus/${menu.menu_id}`)).headers['etag'], before);
  t.equal((await api.delete(groupPath(c))).status, 204, 'a group that uses others is not in use itself');
  t.equal((await api.get(`${groupPath(b)}/uses`)).body.data.length, 1);
  await events.next();
});

t.test('a location with modifier groups is not empty', async (t) => {
  const location = await makeLocation(api);
  const group = await makeModifierGroup(api, location.location_id);
  const path = `/locations/${location.location_id}`;
  t.match(await api.delete(path), { status: 409, body: { code: 'location_not_empty' } });
  await api.delete(groupPath(group));
  t.equal((await api.delete(path)).status, 204);
  await events.next();
});

t.test('groups nest six levels deep, and no deeper, from whichever end they are joined', async (t) => {
  const { groups } = await makeWorld(8);
  for (const [at, group] of groups.slice(0, 5).entries())
    t.equal((await setUses(modifierPath(group), [use(groups[at + 1])])).status, 200);
  const below = await setUses(modifierPath(groups[5]), [use(groups[6])]);
  t.match(below, {
    status: 422,
    body: { errors: [{ field: '/modifier_groups/0/modifier_group_id', code: 'too_deep' }] },
  });
  const above = await setUses(modifierPath(groups[7]), [use(groups[6]), use(groups[0])]);
  t.match(above.body.errors, [{ field: '/modifier_groups/1/modifier_group_id', code: 'too_deep' }]);
  t.equal(
    (await setUses(modifierPath(groups[7]), [use(groups[1])])).status,
    200,
    'beside another of the same depth',
  );
  await events.next();
});

t.test('no group contains itself, at whatever distance', async (t) => {
  const { groups } = await makeWorld(3);
  const [a, b, c] = groups;
  const circle = { status: 422, body: { errors: [{ code: 'circle' }] } };
  t.match(await setUses(modifierPath(a), [use(a)]), circle);
  await setUses(modifierPath(a), [use(b)]);
  await setUses(modifierPath(b), [use(c)]);
  t.match(await setUses(modifierPath(b, 1), [use(a)]), circle);
  t.match(await setUses(modifierPath(c), [use(a)]), circle);
  t.match(await setUses(modifierPath(c), [use(b)]), circle);
  await setUses(modifierPath(a), []);
  t.equal((await setUses(modifierPath(c), [use(a)])).status, 200, 'once the way is open, it can be gone');
  await events.next();
});

t.test('of two writers who each add half of a circle, one is refused', async (t) => {
  for (let round = 0; round < 10; round += 1) {
    const { groups } = await makeWorld(2);
    const [a, b] = groups;
    const responses = await Promise.all([
      setUses(modifierPath(a), [use(b)]),
      setUses(modifierPath(b), [use(a)]),
    ]);
    t.same(responses.map(({ status }) => status).sort(), [200, 422]);
  }
  await events.next();
});

t.test('a menu of another location cannot use the group', async (t) => {
  const { groups } = await makeWorld(1);
  const elsewhere = await makeTree(api);
  await makeMenu(api, elsewhere.location.location_id);
  const { status, body } = await setUses(itemPath(elsewhere.item), [use(groups[0])]);
  t.equal(status, 422);
  t.match(body.errors, [{ code: 'not_found' }]);
  await events.next();
});
