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

const groupPath = (group: Resource) =>
  `/locations/${group.location_id}/modifier-groups/${group.modifier_group_id}`;
const modifierPath = (group: Resource, at = 0) =>
  `${groupPath(group)}/modifiers/${group.modifiers[at].modifier_id}`;
const itemPath = (item: Resource) => `/menus/${item.menu_id}/items/${item.item_id}`;
const setUses = (path: string, ...groups: Resource[]) =>
  api.put(`${path}/modifier-groups`, {
    modifier_groups: groups.map(({ modifier_group_id }) => ({ modifier_group_id })),
  });
const tagOf = async ({ menu_id }: Resource) => (await api.get(`/menus/${menu_id}`)).headers['etag'];
const shownBy = async ({ menu_id }: Resource) =>
  (await api.get(`/menus/${menu_id}`)).body.data.modifier_groups;

/** One location: two menus with an item each, a third without, and so many groups. */
async function makeWorld(count: number) {
  const { location_id } = await makeLocation(api);
  const menus: Resource[] = [];
  const items: Resource[] = [];
  for (const _ of [1, 2, 3]) {
    const menu = await makeMenu(api, location_id);
    menus.push(menu);
    items.push(await makeItem(api, await makeCategory(api, menu.menu_id)));
  }
  const groups: Resource[] = [];
  for (let n = 0; n < count; n += 1)
    groups.push(await makeModifierGroup(api, location_id, { name: `Group ${n}` }));
  return { location_id, menus, items, groups };
}

t.test('a menu shows every group that can be reached from it, once', async (t) => {
  const { menus, items, groups } = await makeWorld(4);
  const [direct, nested, deep, unused] = groups;
  const more = await makeItem(api, { ...items[0], category_id: items[0].category_id });
  await setUses(itemPath(items[0]), direct);
  await setUses(itemPath(more), direct, deep);
  await setUses(modifierPath(direct), nested);
  await setUses(modifierPath(direct, 1), nested);
  await setUses(modifierPath(nested), deep);
  const shown = await shownBy(menus[0]);
  const alone = await Promise.all([direct, nested, deep].map((group) => api.get(groupPath(group))));
  t.same(
    shown,
    alone.map(({ body }) => body.data),
  );
  t.same(await shownBy(menus[1]), []);
  t.notOk(JSON.stringify(shown).includes(unused.name));
  await api.delete(itemPath(items[0]));
  await api.delete(itemPath(more));
  t.same(await shownBy(menus[0]), [], 'with the items they go');
});

t.test('a change of a group changes the ETag of each menu that shows it, and of no other', async (t) => {
  const { menus, items, groups } = await makeWorld(3);
  const [outer, inner, own] = groups;
  await setUses(itemPath(items[0]), outer);
  await setUses(itemPath(items[1]), inner);
  await setUses(itemPath(items[2]), own);
  await setUses(modifierPath(outer), inner);
  const location = { path: `/locations/${outer.location_id}` };
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const changes: [string, () => Promise<{ status: number }>, number[]][] = [
    ['toggle of a nested modifier', () => api.post(`${modifierPath(inner)}/toggle`), [0, 1]],
    ['toggle of an outer modifier', () => api.post(`${modifierPath(outer)}/toggle`), [0]],
    ['update of a nested modifier', () => api.put(modifierPath(inner), { price: 9 }), [0, 1]],
    ['planned return', () => api.put(modifierPath(inner), { unavailable_until: until }), [0, 1]],
    ['update of a nested group', () => api.put(groupPath(inner), { name: 'Other' }), [0, 1]],
    ['update of an outer group', () => api.put(groupPath(outer), { max_selections: 2 }), [0]],
    ['new modifier', () => api.post(`${groupPath(inner)}/modifiers`, { name: 'New' }), [0, 1]],
    ['deleted modifier', () => api.delete(modifierPath(inner, 1)), [0, 1]],
    [
      'availability of many',
      () =>
        api.post(`${location.path}/modifier-availability`, {
          modifiers: [own, outer].map(({ modifiers }) => ({
            modifier_id: modifiers[1].modifier_id,
            is_available: false,
          })),
        }),
      [0, 2],
    ],
    ['new group', () => api.post(`${location.path}/modifier-groups`, { name: 'Another' }), []],
    ['another nested group', () => setUses(modifierPath(outer, 1), own), [0]],
    ['toggle of what is nested since', () => api.post(`${modifierPath(own)}/toggle`), [0, 2]],
    ['end of a use', () => setUses(itemPath(items[1])), [1]],
    ['toggle of what is shown less', () => api.post(`${modifierPath(inner)}/toggle`), [0]],
  ];
  for (const [what, make, raised] of changes) {
    const before = await Promise.all(menus.map(tagOf));
    const { status } = await make();
    t.ok(status < 300, `${what}: ${status}`);
    const after = await Promise.all(menus.map(tagOf));
    const changed = [0, 1, 2].filter((at) => before[at] !== after[at]);
    t.same(changed, raised, what);
  }
});

t.test('a menu has another ETag from the moment a modifier it shows is back', async (t) => {
  const { menus, items, groups } = await makeWorld(2);
  const [shown, other] = groups;
  await setUses(itemPath(items[0]), shown);
  await setUses(itemPath(items[1]), other);
  await api.post(`${modifierPath(shown)}/toggle`);
  const before = await Promise.all(menus.map(tagOf));
  await database
    .updateTable('modifier')
    .set({ unavailable_until: new Date(Date.now() - 1_000) })
    .where('modifier_id', '=', shown.modifiers[0].modifier_id)
    .execute();
  const after = await Promise.all(menus.map(tagOf));
  t.same(
    before.map((tag, at) => tag === after[at]),
    [false, true, true],
  );
  t.equal((await shownBy(menus[0]))[0].modifiers[0].is_available, true);
  t.equal(await restoreDueModifiers(database), 1);
  const restored = await Promise.all(menus.map(tagOf));
  t.same(
    restored.map((tag, at) => tag === after[at]),
    [false, true, true],
  );
});

t.test('a toggle that waits for a new use changes the ETag of the menu added meanwhile', async (t) => {
  const { menus, items, groups } = await makeWorld(2);
  const [outer, inner] = groups;
  await setUses(modifierPath(outer), inner);
  // The use is held just before its end, at the menu; the toggle waits for the group.
  const [use, toggle] = await database.transaction().execute(async (transaction) => {
    await sql`select from menu where menu_id = ${menus[0].menu_id} for update`.execute(transaction);
    const use = setUses(itemPath(items[0]), outer);
    await waiting(1);
    const toggle = api.post(`${modifierPath(inner)}/toggle`);
    await waiting(2);
    return [use, toggle];
  });
  const version = async () =>
    (
      await database
        .selectFrom('menu')
        .select('content_version')
        .where('menu_id', '=', menus[0].menu_id)
        .executeTakeFirstOrThrow()
    ).content_version;
  t.equal((await use).status, 200);
  t.equal((await toggle).status, 200);
  t.equal(await version(), 5, 'made, a category, an item, the use, and the toggle');
  t.equal((await shownBy(menus[0]))[1].modifiers[0].is_available, false);
});

async function waiting(many: number): Promise<void> {
  await eventually(`${many} wait for a lock`, async () => {
    const { rows } = await sql`select from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database()`.execute(database);
    return rows.length === many;
  });
}
