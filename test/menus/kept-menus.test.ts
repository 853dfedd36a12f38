import fc from 'fast-check';
import t from 'tap';
import { readMenuBody } from '../../src/menus/menu-body.ts';
import { priceSelection } from '../../src/menus/pricing/price-selection.ts';
import type { Api } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { makeCategory, makeItem, makeLocation, makeMenu, makeModifierGroup } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

/*
 * Two processes keep what they have read of a menu, while both change it at random. After each change both show what a
 * reader without anything kept reads: the body of the menu byte for byte, and prices. MENUS_SEED runs the same again.
 */

const seed = Number(process.env['MENUS_SEED'] ?? Date.now() % 2_147_483_647);
const one = await startTestService(t);
const other = await startTestService(t, { connection: one.connection });
const apis = [one.api, other.api];
const { database } = one;

// biome-ignore lint/suspicious/noExplicitAny: the contract check has validated it
type Resource = any;

interface World {
  location_id: number;
  menu_id: number;
  path: string;
  groups: string;
  /** Of another menu, for which a modifier stands. */
  elsewhere: Resource;
}

/** Picks one of several, or nothing where there is none. */
type Pick = <T>(from: readonly T[]) => T | undefined;

const hours = [
  null,
  { weekly: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '00:00', minutes: 720 }] },
  { weekly: [] },
];
const itemsOf = (menu: Resource): Resource[] => menu.categories.flatMap(({ items }: Resource) => items);
const modifiersOf = (menu: Resource): Resource[] =>
  menu.modifier_groups.flatMap(({ modifiers }: Resource) => modifiers);
const soon = () => new Date(Date.now() + 150).toISOString();
const off = { is_available: false };

/** By name, so that a failure tells what was done. Some find nothing to change, and some are refused. */
const changes: Record<string, (api: Api, world: World, menu: Resource, pick: Pick) => Promise<unknown>> = {
  toggleItem: (api, { path }, menu, pick) =>
    api.post(`${path}/items/${pick(itemsOf(menu))?.item_id ?? 1}/toggle`),
  'updateItem: price': (api, { path }, menu, pick) =>
    api.put(`${path}/items/${pick(itemsOf(menu))?.item_id ?? 1}`, { price: pick([1, 2.5, 7]) }),
  'updateItem: place': (api, { path }, menu, pick) =>
    api.put(`${path}/items/${pick(itemsOf(menu))?.item_id ?? 1}`, {
      category_id: pick<Resource>(menu.categories)?.category_id ?? 1,
      sort_order: pick([0, 3, 70]),
    }),
  'updateItem: back soon': (api, { path }, menu, pick) =>
    api.put(`${path}/items/${pick(itemsOf(menu))?.item_id ?? 1}`, { ...off, unavailable_until: soon() }),
  setAvailability: (api, { path }, menu, pick) =>
    api.post(`${path}/availability`, {
      items: itemsOf(menu)
        .slice(0, 9)
        .map(({ item_id }) => ({ item_id, is_available: pick([true, false]) })),
    }),
  createItem: async (api, { path }, menu, pick) =>
    api.post(`${path}/items`, {
      category_id: pick<Resource>(menu.categories)?.category_id ?? 1,
      ...{ name: 'Gyoza 餃子', price: 3, sort_order: pick([0, 5, 100]) },
    }),
  deleteItem: (api, { path }, menu, pick) => api.delete(`${path}/items/${pick(itemsOf(menu))?.item_id ?? 1}`),
  createCategory: (api, { path }, _, pick) =>
    api.post(`${path}/categories`, { name: 'Sides', sort_order: pick([0, 9]) }),
  updateCategory: (api, { path }, menu, pick) =>
    api.put(`${path}/categories/${pick<Resource>(menu.categories)?.category_id ?? 1}`, {
      hours: pick(hours),
    }),
  deleteCategory: async (api, { path }, menu, pick) =>
    menu.categories.length > 1 &&
    api.delete(`${path}/categories/${pick<Resource>(menu.categories)?.category_id}`),
  reorderMenu: (api, { path }, menu) =>
    api.put(`${path}/order`, {
      categories: menu.categories.toReversed().map(({ category_id, items }: Resource) => ({
        category_id,
        items: items.map(({ item_id }: Resource) => item_id).toReversed(),
      })),
    }),
  importMenu: async (api, { path }, _, pick) => {
    const { body } = await api.get(`${path}/content`);
    const categories = body.data.categories.map((category: Resource) => ({
      ...category,
      items: category.items
        .filter((__: unknown, place: number) => place % 7 !== 6)
        .map((item: Resource) => ({ ...item, name: `${item.name.slice(0, 20)} ${pick([1, 2, 3])}` })),
    }));
    return api.put(`${path}/content`, { ...body.data, categories });
  },
  toggleMenu: (api, { path }) => api.post(`${path}/toggle`),
  updateMenu: (api, { path }, _, pick) =>
    api.put(path, { hours: pick(hours), description: pick(['', 'Until late']) }),
  updateLocation: (api, { location_id }, _, pick) =>
    api.put(`/locations/${location_id}`, {
      hours: pick(hours),
      timezone: pick(['Asia/Tokyo', 'Europe/Berlin']),
    }),
  createModifierGroup: (api, { location_id }) => makeModifierGroup(api, location_id),
  updateModifierGroup: (api, { groups }, menu, pick) =>
    api.put(`${groups}/${pick<Resource>(menu.modifier_groups)?.modifier_group_id ?? 1}`, {
      min_selections: pick([0, 1]),
      free_selections: pick([0, 1]),
    }),
  deleteModifierGroup: (api, { groups }, menu, pick) =>
    api.delete(
      `${groups}/${pick<Resource>(menu.modifier_groups.slice(2))?.modifier_group_id ?? 1}?detach=true`,
    ),
  createModifier: (api, { groups, elsewhere }, menu, pick) =>
    api.post(`${groups}/${pick<Resource>(menu.modifier_groups)?.modifier_group_id ?? 1}/modifiers`, {
      ...{ name: 'Fries', price: 2, item_id: pick([null, elsewhere.item_id]) },
    }),
  updateModifier: (api, { groups }, menu, pick) =>
    onModifier(menu, pick, (path) => api.put(groups + path, { price: pick([0, 0.5, 1]) })),
  'updateModifier: back soon': (api, { groups }, menu, pick) =>
    onModifier(menu, pick, (path) => api.put(groups + path, { ...off, unavailable_until: soon() })),
  toggleModifier: (api, { groups }, menu, pick) =>
    onModifier(menu, pick, (path) => api.post(`${groups}${path}/toggle`)),
  deleteModifier: (api, { groups }, menu, pick) =>
    onModifier(menu, pick, (path) => api.delete(groups + path)),
  'toggleItem: elsewhere': (api, { elsewhere }) =>
    api.post(`/menus/${elsewhere.menu_id}/items/${elsewhere.item_id}/toggle`),
  setItemModifierGroups: async (api, { path, groups }, menu, pick) => {
    const all: Resource[] = (await api.get(groups)).body.data;
    const uses = all.filter(() => pick([true, false])).slice(0, 4);
    return api.put(`${path}/items/${pick(itemsOf(menu))?.item_id ?? 1}/modifier-groups`, {
      modifier_groups: uses.map(({ modifier_group_id }) => ({ modifier_group_id })),
    });
  },
  setModifierModifierGroups: async (api, { groups }, menu, pick) => {
    const all: Resource[] = (await api.get(groups)).body.data;
    const use = pick(all);
    return onModifier(menu, pick, (path) =>
      api.put(`${groups}${path}/modifier-groups`, {
        modifier_groups: use ? [{ modifier_group_id: use.modifier_group_id }] : [],
      }),
    );
  },
};

async function onModifier(menu: Resource, pick: Pick, change: (path: string) => Promise<unknown>) {
  const modifier = pick(modifiersOf(menu));
  return modifier && change(`/${modifier.modifier_group_id}/modifiers/${modifier.modifier_id}`);
}

t.test(`what is cached of a menu is what is stored (MENUS_SEED=${seed})`, async (t) => {
  const done = new Set<string>();
  const steps = fc.array(
    fc.record({
      name: fc.constantFrom(...Object.keys(changes)),
      by: fc.nat(1),
      picks: fc.array(fc.nat(9_999), { minLength: 12, maxLength: 12 }),
    }),
    { minLength: 40, maxLength: 60, size: 'max' },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (steps) => {
      const world = await makeWorld();
      await compare(world, (from) => from[0]);
      for (const { name, by, picks } of steps) {
        let turn = 0;
        const pick: Pick = (from) => from[(picks[turn++ % picks.length] ?? 0) % from.length];
        const api = apis[by] as Api;
        const { body } = await api.get(world.path);
        await changes[name]?.(api, world, body.data, pick);
        done.add(name);
        await compare(world, pick);
      }
      const { categories, groups, read } = await unchanged(world);
      t.same(categories, read.categories, 'a category is what getCategory shows');
      t.same(groups, read.groups, 'a group is what getModifierGroup shows');
    }),
    { seed, numRuns: 4, endOnFailure: true },
  );
  t.ok(done.size > 15, `${done.size} kinds of changes`);
});

/** A menu with more items than a segment has. */
async function makeWorld(): Promise<World> {
  const { location_id } = await makeLocation(one.api);
  const { menu_id } = await makeMenu(one.api, location_id);
  const category = await makeCategory(one.api, menu_id);
  const path = `/menus/${menu_id}`;
  const items = await Promise.all(Array.from({ length: 70 }, () => makeItem(one.api, category)));
  await makeItem(one.api, await makeCategory(one.api, menu_id));
  await makeCategory(one.api, menu_id);
  const bar = await makeMenu(one.api, location_id);
  const elsewhere = await makeItem(one.api, await makeCategory(one.api, bar.menu_id));
  const [size, side] = await Promise.all([
    makeModifierGroup(one.api, location_id),
    makeModifierGroup(one.api, location_id, { modifiers: [{ name: 'Beer', item_id: elsewhere.item_id }] }),
  ]);
  for (const { item_id } of items.slice(0, 3))
    await one.api.put(`${path}/items/${item_id}/modifier-groups`, {
      modifier_groups: [size, side].map(({ modifier_group_id }) => ({ modifier_group_id })),
    });
  return { location_id, menu_id, path, groups: `/locations/${location_id}/modifier-groups`, elsewhere };
}

/** The parts of a menu, and what is read of each by itself: before something in it came back by itself, or after. */
async function unchanged({ path, groups }: World) {
  return eventually('the time changes nothing meanwhile', async () => {
    const { text, body } = await one.api.get(path);
    const { categories, modifier_groups } = body.data;
    const each = async (paths: string[]) =>
      (await Promise.all(paths.map((path) => one.api.get(path)))).map(({ body }) => body.data);
    const read = {
      categories: await each(
        categories.map(({ category_id }: Resource) => `${path}/categories/${category_id}`),
      ),
      groups: await each(
        modifier_groups.map(({ modifier_group_id }: Resource) => `${groups}/${modifier_group_id}`),
      ),
    };
    return (await one.api.get(path)).text === text && { categories, groups: modifier_groups, read };
  });
}

/** Both processes with a reader that has nothing kept. */
async function compare(world: World, pick: Pick): Promise<void> {
  const { menu_id, path } = world;
  const shown = await eventually('the time changes nothing meanwhile', async () => {
    const responses = await Promise.all(apis.map((api) => api.get(path)));
    const fresh = await readMenuBody(database, menu_id);
    const same = responses.filter(({ headers }) => headers['etag'] === fresh?.etag);
    return same.length === apis.length && { responses, fresh };
  });
  for (const { text } of shown.responses)
    if (text !== String(shown.fresh?.body)) throw new Error(`kept: ${text}, read: ${shown.fresh?.body}`);

  const menu = shown.responses[0]?.body.data;
  const item =
    pick(itemsOf(menu).filter(({ modifier_groups }) => modifier_groups.length > 0)) ?? pick(itemsOf(menu));
  if (!item) return;
  const selections = modifiersOf(menu)
    .filter(() => pick([true, false]))
    .slice(0, 6)
    .map(({ modifier_id }) => ({ modifier_id }));
  const body = { selections, at: '2026-03-10T11:30:00' };
  const params = { menu_id, item_id: item.item_id };
  const caller = { accountId: one.api.credentials.account_id, locationIds: null };
  // As a database of its own, so that nothing is kept of it.
  const call = { database: database.withoutPlugins(), params, caller, body };
  const fresh = JSON.parse(String((await priceSelection(call as never)).body));
  for (const api of apis) {
    const { body: priced } = await api.post(`${path}/items/${item.item_id}/price`, body);
    if (JSON.stringify(priced) !== JSON.stringify(fresh))
      throw new Error(`kept: ${JSON.stringify(priced)}, read: ${JSON.stringify(fresh)}`);
  }
}
