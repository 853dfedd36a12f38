import { sql } from 'kysely';
import t from 'tap';
import { restoreDueModifiers } from '../../src/modifier-groups/restore-modifiers.ts';
import { eventually } from '../support/eventually.ts';
import { makeCategory, makeItem, makeLocation, makeMenu, makeModifierGroup } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database } = service;

// biome-ignore lint/suspicious/noExplicitAny: the contract check has validated it
type Resource = any;

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
const groupPath = ({ location_id, modifier_group_id }: Resource) =>
  `/locations/${location_id}/modifier-groups/${modifier_group_id}`;
const modifierPath = (group: Resource, at = 0) =>
  `${groupPath(group)}/modifiers/${group.modifiers[at].modifier_id}`;
const itemPath = ({ menu_id, item_id }: Resource) => `/menus/${menu_id}/items/${item_id}`;
const idOf = (group: Resource, at = 0): number => group.modifiers[at].modifier_id;

async function setUses(path: string, ...uses: object[]): Promise<void> {
  const response = await api.put(`${path}/modifier-groups`, { modifier_groups: uses });
  if (response.status !== 200) throw new Error(response.text);
}
const use = ({ modifier_group_id }: Resource, min_selections?: number) => ({
  modifier_group_id,
  ...(min_selections !== undefined && { min_selections }),
});

/** A location with so many menus of one item. */
async function makeMenus(count: number) {
  const { location_id } = await makeLocation(api);
  const items: Resource[] = [];
  for (let n = 0; n < count; n += 1) {
    const menu = await makeMenu(api, location_id);
    items.push(await makeItem(api, await makeCategory(api, menu.menu_id)));
  }
  const group = (names: string[], fields: object = {}) =>
    makeModifierGroup(api, location_id, { modifiers: names.map((name) => ({ name })), ...fields });
  return { location_id, items, group };
}

const told = async ({ menu_id }: Resource, at = '') => {
  const { body } = await api.get(`/menus/${menu_id}/availability${at && `?at=${encodeURIComponent(at)}`}`);
  return body.data;
};
const tagOf = async ({ menu_id }: Resource) =>
  String((await api.get(`/menus/${menu_id}/availability`)).headers['etag']);

t.test('each modifier that can be reached from the menu is listed, once', async (t) => {
  const { items, group } = await makeMenus(2);
  const [direct, nested, other] = [await group(['A', 'B']), await group(['C']), await group(['D'])];
  t.same((await told(items[0])).modifiers, []);
  await setUses(itemPath(items[0]), use(direct), use(nested));
  await setUses(modifierPath(direct), use(nested));
  await setUses(itemPath(items[1]), use(other));
  t.same(
    (await told(items[0])).modifiers,
    [idOf(direct), idOf(direct, 1), idOf(nested)].map((modifier_id) => ({
      modifier_id,
      is_orderable: true,
      reasons: [],
      next_change_at: null,
    })),
  );
  t.match((await told(items[1])).modifiers, [{ modifier_id: idOf(other) }]);
});

t.test('a modifier that is off says so, since when, until when and by whom', async (t) => {
  const { items, group } = await makeMenus(1);
  const extras = await group(['A', 'B']);
  await setUses(itemPath(items[0]), use(extras));
  const until = inHours(1);
  const { data } = (await api.put(modifierPath(extras), { unavailable_until: until })).body;
  const { unavailable_until, unavailable_since, unavailable_by } = data;
  t.equal(unavailable_until, until);
  const now = await told(items[0]);
  t.match(now, { is_orderable: true, next_change_at: until });
  t.same(now.items[0].reasons, [], 'nothing of the group must be selected');
  t.equal(now.items[0].next_change_at, null);
  t.same(now.modifiers, [
    {
      modifier_id: idOf(extras),
      is_orderable: false,
      reasons: [{ code: 'modifier_off', unavailable_until, unavailable_since, unavailable_by }],
      next_change_at: until,
    },
    { modifier_id: idOf(extras, 1), is_orderable: true, reasons: [], next_change_at: null },
  ]);
  const then = await told(items[0], until);
  t.match(then, {
    next_change_at: null,
    modifiers: [{ is_orderable: true, reasons: [], next_change_at: null }],
  });
});

t.test('a reason against the whole menu also applies to its modifiers', async (t) => {
  const { items, group, location_id } = await makeMenus(1);
  const sizes = await group(['A'], { min_selections: 1 });
  await setUses(itemPath(items[0]), use(sizes));
  await api.put(`/locations/${location_id}`, { hours: { weekly: [] } });
  await api.post(`/menus/${items[0].menu_id}/toggle`);
  const { items: ofItems, modifiers } = await told(items[0]);
  const reasons = [{ code: 'location_closed' }, { code: 'menu_inactive' }];
  t.match(modifiers, [{ is_orderable: false, reasons }]);
  t.same(ofItems[0].reasons, reasons, 'a closed location takes no modifier from its group');
});

t.test('an item whose required selections are off cannot be ordered, until enough are back', async (t) => {
  const { items, group } = await makeMenus(1);
  const [item] = items;
  const sizes = await group(['S', 'M', 'L'], { min_selections: 2, max_selections: 3 });
  await setUses(itemPath(item), use(sizes));
  const [late, early] = [inHours(2), inHours(1)];
  await api.post(`${modifierPath(sizes, 0)}/toggle`);
  t.match((await told(item)).items, [{ is_orderable: true, reasons: [] }], 'two are left');
  await api.put(modifierPath(sizes, 1), { unavailable_until: late });
  const { modifier_group_id } = sizes;
  const missing = { is_orderable: false, reasons: [{ code: 'required_modifiers_off', modifier_group_id }] };
  t.match((await told(item)).items, [{ ...missing, next_change_at: late }]);
  await api.put(modifierPath(sizes, 2), { unavailable_until: early });
  t.match((await told(item)).items, [{ ...missing, next_change_at: late }], 'one is not enough');
  t.match((await told(item, early)).items, [{ ...missing, next_change_at: late }]);
  t.match((await told(item, late)).items, [{ is_orderable: true, reasons: [], next_change_at: null }]);
  await api.post(`${modifierPath(sizes, 0)}/toggle`);
  t.match((await told(item)).items, [{ ...missing, next_change_at: early }]);
  await api.put(modifierPath(sizes, 2), { unavailable_until: null });
  await api.put(modifierPath(sizes, 1), { unavailable_until: null });
  t.match((await told(item)).items, [{ ...missing, next_change_at: null }], 'nothing is planned');
});

t.test('the minimum is that of the use, and a modifier counts as often as it can be selected', async (t) => {
  const { items, group } = await makeMenus(1);
  const [item] = items;
  const toppings = await group(['A', 'B'], { max_per_modifier: 2 });
  await setUses(itemPath(item), use(toppings, 3));
  t.match((await told(item)).items, [{ is_orderable: true }], 'twice each is four');
  await api.post(`${modifierPath(toppings)}/toggle`);
  t.match((await told(item)).items, [{ is_orderable: false, reasons: [{ code: 'required_modifiers_off' }] }]);
  await setUses(itemPath(item), use(toppings, 2));
  t.match((await told(item)).items, [{ is_orderable: true, reasons: [] }], 'B, twice');
  const required = await group(['C'], { min_selections: 1 });
  await setUses(itemPath(item), use(required, 0));
  await api.post(`${modifierPath(required)}/toggle`);
  t.match((await told(item)).items, [{ is_orderable: true, reasons: [] }], 'optional, by the use');
});

t.test('a modifier whose own group cannot be met is missing in the group above, however deep', async (t) => {
  const { items, group } = await makeMenus(1);
  const [item] = items;
  const [outer, middle, inner] = [
    await group(['Set'], { min_selections: 1 }),
    await group(['Side', 'Soup'], { min_selections: 1 }),
    await group(['Sauce'], { min_selections: 1 }),
  ];
  await setUses(itemPath(item), use(outer));
  await setUses(modifierPath(outer), use(middle));
  await setUses(modifierPath(middle), use(inner));
  const until = inHours(1);
  await api.put(modifierPath(inner), { unavailable_until: until });
  const missing = ({ modifier_group_id }: Resource) => [
    { code: 'required_modifiers_off', modifier_group_id },
  ];
  const one = await told(item);
  t.match(one.items, [{ is_orderable: true }], 'there is soup');
  t.match(one.modifiers, [
    { modifier_id: idOf(outer), is_orderable: true, reasons: [] },
    { modifier_id: idOf(middle), is_orderable: false, reasons: missing(inner), next_change_at: until },
    { modifier_id: idOf(middle, 1), is_orderable: true, reasons: [] },
    { modifier_id: idOf(inner), is_orderable: false, reasons: [{ code: 'modifier_off' }] },
  ]);
  await api.post(`${modifierPath(middle, 1)}/toggle`);
  const both = await told(item);
  t.match(both.items, [{ is_orderable: false, reasons: missing(outer), next_change_at: until }]);
  t.match(both.modifiers[0], { is_orderable: false, reasons: missing(middle), next_change_at: until });
  const back = await told(item, until);
  t.match(back.items, [{ is_orderable: true, reasons: [], next_change_at: null }]);
});

t.test(
  'a modifier is off while the item that it stands for is, on whichever menu, and not otherwise',
  async (t) => {
    const { items, group } = await makeMenus(3);
    const [item, miso, unrelated] = items;
    const sides = await group(['Miso soup'], { min_selections: 1 });
    await setUses(itemPath(item), use(sides));
    await api.put(modifierPath(sides), { item_id: miso.item_id });
    const before = await tagOf(item);
    t.equal(await tagOf(item), before);
    await api.post(`${itemPath(unrelated)}/toggle`);
    await api.put(itemPath(miso), { hours: { weekly: [] } });
    t.equal(await tagOf(item), before, 'neither other items nor the hours of this one matter');
    t.match((await told(item)).modifiers, [{ is_orderable: true, reasons: [] }]);

    const until = inHours(1);
    const { data } = (await api.put(itemPath(miso), { unavailable_until: until })).body;
    const off = await told(item);
    t.match(off.items, [
      { reasons: [{ code: 'required_modifiers_off' }], next_change_at: until, is_orderable: false },
    ]);
    const { unavailable_since, unavailable_by } = data;
    t.same(off.modifiers[0].reasons, [
      { code: 'item_off', unavailable_until: until, unavailable_since, unavailable_by },
    ]);
    const tag = await tagOf(item);
    t.not(tag, before);
    await api.post(`${modifierPath(sides)}/toggle`);
    t.match((await told(item)).modifiers[0].reasons, [{ code: 'modifier_off' }, { code: 'item_off' }]);
    await api.post(`${modifierPath(sides)}/toggle`);

    await api.put(itemPath(miso), { is_available: true });
    t.match((await told(item)).modifiers, [{ is_orderable: true }]);
    t.not(await tagOf(item), tag);
    await api.delete(itemPath(miso));
    const gone = await told(item);
    t.match(gone.modifiers[0], {
      is_orderable: false,
      reasons: [{ code: 'item_off', unavailable_until: null, unavailable_since: null, unavailable_by: null }],
      next_change_at: null,
    });
    await api.put(modifierPath(sides), { item_id: null });
    t.match((await told(item)).modifiers, [{ is_orderable: true }]);
  },
);

t.test('a switch changes the ETag of each menu that shows the modifier, and of no other', async (t) => {
  const { items, group, location_id } = await makeMenus(3);
  const [outer, inner, own] = [await group(['A']), await group(['B']), await group(['C'])];
  await setUses(itemPath(items[0]), use(outer));
  await setUses(itemPath(items[1]), use(inner));
  await setUses(itemPath(items[2]), use(own));
  await setUses(modifierPath(outer), use(inner));
  const switches: [string, () => Promise<{ status: number }>, number[]][] = [
    ['toggle of a nested modifier', () => api.post(`${modifierPath(inner)}/toggle`), [0, 1]],
    ['toggle of an outer modifier', () => api.post(`${modifierPath(outer)}/toggle`), [0]],
    ['restore', () => api.put(modifierPath(own), { restore: 'next_day' }), [2]],
    [
      'availability of many',
      () =>
        api.post(`/locations/${location_id}/modifier-availability`, {
          modifiers: [{ modifier_id: idOf(inner), is_available: true }],
        }),
      [0, 1],
    ],
    ['a greater minimum', () => api.put(groupPath(outer), { min_selections: 1 }), [0]],
  ];
  for (const [what, make, changed] of switches) {
    const before = await Promise.all(items.map(tagOf));
    t.equal((await make()).status, 200, what);
    const after = await Promise.all(items.map(tagOf));
    t.same(
      [0, 1, 2].filter((at) => before[at] !== after[at]),
      changed,
      what,
    );
    for (const [at, item] of items.entries()) {
      const headers = { 'if-none-match': String(after[at]) };
      t.equal((await api.get(`/menus/${item.menu_id}/availability`, { headers })).status, 304);
    }
  }
});

t.test('a cached result ends when a modifier is back, before a worker has written that', async (t) => {
  const { items, group } = await makeMenus(1);
  const sizes = await group(['A'], { min_selections: 1 });
  await setUses(itemPath(items[0]), use(sizes));
  await api.put(modifierPath(sizes), { unavailable_until: inHours(1) });
  const path = `/menus/${items[0].menu_id}/availability`;
  const off = await api.get(path);
  t.match(off.body.data.items, [{ is_orderable: false }]);
  await sql`update modifier set unavailable_until = now() + interval '1 second'
    where modifier_id = ${idOf(sizes)}`.execute(database);
  await sql`update menu set content_version = content_version + 1 where menu_id = ${items[0].menu_id}`.execute(
    database,
  );
  const soon = await api.get(path);
  t.match(String(soon.headers['cache-control']), /max-age=[01]$/);
  const headers = { 'if-none-match': String(soon.headers['etag']) };
  const on = await eventually('the modifier is back', async () => {
    const response = await api.get(path, { headers });
    return response.status === 200 && response;
  });
  t.match(on.body.data, {
    items: [{ is_orderable: true }],
    modifiers: [{ is_orderable: true }],
    next_change_at: null,
  });
  t.equal(await restoreDueModifiers(database), 1);
});
