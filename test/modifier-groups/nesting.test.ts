import fc from 'fast-check';
import t from 'tap';
import { makeCategory, makeItem, makeLocation, makeMenu, makeModifierGroup } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

/*
 * Writers of random uses, several at once, against the groups of one location. Whatever they do, no group lies within
 * itself, none deeper than six levels, and each menu shows exactly what can be reached from its items.
 */

const { api, database, client } = await startTestService(t);
// A client may have two imports under way.
const importers = await Promise.all(Array.from({ length: 8 }, () => client()));

// biome-ignore lint/suspicious/noExplicitAny: the contract check has validated it
type Resource = any;

interface World {
  menus: Resource[];
  items: Resource[];
  groups: Resource[];
}

/** Which groups somebody shall offer, a modifier of a group or an item; or what else happens to the group meanwhile. */
interface Write {
  by:
    | 'modifier'
    | 'item'
    | 'import'
    | 'deleted modifier'
    | 'deleted group'
    | 'toggle'
    | 'availability'
    | 'update';
  user: number;
  modifier: number;
  groups: number[];
}

const groupCount = 8;

const writes: fc.Arbitrary<Write> = fc.record({
  by: fc.oneof(
    { arbitrary: fc.constant<Write['by']>('modifier'), weight: 6 },
    { arbitrary: fc.constantFrom<Write['by'][]>('item', 'toggle', 'availability', 'update'), weight: 4 },
    { arbitrary: fc.constant<Write['by']>('import'), weight: 3 },
    { arbitrary: fc.constantFrom<Write['by'][]>('deleted modifier', 'deleted group'), weight: 1 },
  ),
  user: fc.nat(groupCount - 1),
  modifier: fc.nat(1),
  groups: fc.uniqueArray(fc.nat(groupCount - 1), { maxLength: 3 }),
});

const batches = fc.array(fc.array(writes, { minLength: 4, maxLength: 8 }), { minLength: 3, maxLength: 6 });

t.test('random uses by concurrent writers never form a circle, and menus show what is reached', async (t) => {
  const statuses = new Map<number, number>();
  const imports = new Set<number>();
  const property = fc.asyncProperty(batches, async (batches) => {
    const world = await makeWorld();
    for (const batch of batches) {
      const responses = await Promise.all(batch.map((write, place) => send(world, write, place)));
      for (const { status } of responses) statuses.set(status, (statuses.get(status) ?? 0) + 1);
      for (const [place, { by }] of batch.entries())
        if (by === 'import') imports.add(responses[place]?.status ?? 0);
      await requireSound(world);
    }
  });
  await fc.assert(property, { numRuns: 12, seed: 15, endOnFailure: true });
  const seen = [...statuses.keys()].filter((status) => ![200, 204, 404, 422].includes(status));
  t.same(seen, [], 'no writer fails');
  t.ok((statuses.get(422) ?? 0) > 0 && (statuses.get(200) ?? 0) > 0, JSON.stringify([...statuses]));
  t.ok(imports.has(200) && imports.has(422), `imports: ${[...imports]}`);
});

async function makeWorld(): Promise<World> {
  const { location_id } = await makeLocation(api);
  const menus = [await makeMenu(api, location_id), await makeMenu(api, location_id)];
  const items: Resource[] = [];
  for (const { menu_id } of menus) items.push(await makeItem(api, await makeCategory(api, menu_id)));
  const groups: Resource[] = [];
  for (let n = 0; n < groupCount; n += 1) groups.push(await makeModifierGroup(api, location_id));
  return { menus, items, groups };
}

function send({ items, groups }: World, { by, user, modifier, groups: wanted }: Write, place: number) {
  const group = groups[user];
  const path = `/locations/${group.location_id}/modifier-groups/${group.modifier_group_id}`;
  const one = `${path}/modifiers/${group.modifiers[modifier].modifier_id}`;
  if (by === 'deleted modifier') return api.delete(one);
  if (by === 'deleted group') return api.delete(`${path}?detach=true`);
  if (by === 'toggle') return api.post(`${one}/toggle`);
  if (by === 'update') return api.put(path, { name: `Group ${wanted}` });
  if (by === 'availability') {
    const modifiers = groups.map((each) => ({
      modifier_id: each.modifiers[0].modifier_id,
      is_available: modifier > 0,
    }));
    return api.post(`/locations/${group.location_id}/modifier-availability`, { modifiers });
  }
  const item = items[user % items.length];
  if (by === 'import') {
    const uses = wanted.map((at) => ({ modifier_group_id: groups[at].modifier_group_id }));
    const [first, second] = group.modifiers;
    const modifiers = [
      { modifier_id: first.modifier_id, modifier_groups: uses },
      { modifier_id: second.modifier_id },
    ];
    const { menu_id, category_id, item_id } = item;
    const own = modifier > 0 ? { item_id, modifier_groups: uses } : { item_id };
    const data = {
      categories: [{ category_id, items: [own] }],
      modifier_groups: [{ modifier_group_id: group.modifier_group_id, name: `Group ${wanted}`, modifiers }],
    };
    return (importers[place] ?? api).put(`/menus/${menu_id}/content`, { data });
  }
  const holder = by === 'item' ? `/menus/${item.menu_id}/items/${item.item_id}` : one;
  const modifier_groups = wanted.map((at) => ({ modifier_group_id: groups[at].modifier_group_id }));
  return api.put(`${holder}/modifier-groups`, { modifier_groups });
}

async function requireSound({ menus, groups }: World): Promise<void> {
  const { body } = await api.get(`/locations/${groups[0].location_id}/modifier-groups`);
  const inner = new Map<number, number[]>(
    body.data.map((group: Resource) => [
      group.modifier_group_id,
      group.modifiers.flatMap((modifier: Resource) => idsOf(modifier.modifier_groups)),
    ]),
  );
  for (const id of inner.keys()) requireShallow(id, [], inner);

  const indexed = await database
    .selectFrom('modifier_group_use')
    .select(['user_group_id', 'modifier_group_id'])
    .where('user_group_id', 'in', [...inner.keys()])
    .execute();
  const pairs = [...inner].flatMap(([outer, ids]) => ids.map((id) => `${outer} ${id}`)).sort();
  const found = indexed
    .map(({ user_group_id, modifier_group_id }) => `${user_group_id} ${modifier_group_id}`)
    .sort();
  requireEqual(found, pairs, 'the uses in rows and in lists');

  const noted = await database
    .selectFrom('modifier_group')
    .select(['modifier_group_id', 'menu_ids'])
    .where('modifier_group_id', 'in', [...inner.keys()])
    .execute();
  for (const { menu_id } of menus) {
    const menu = (await api.get(`/menus/${menu_id}`)).body.data;
    const direct = menu.categories.flatMap(({ items }: Resource) =>
      items.flatMap((item: Resource) => idsOf(item.modifier_groups)),
    );
    const reached = new Set<number>(direct);
    for (const id of reached) for (const next of inner.get(id) ?? []) reached.add(next);
    const wanted = [...reached].sort((a, b) => a - b);
    requireEqual(idsOf(menu.modifier_groups), wanted, 'what the menu shows');
    const noting = noted.filter(({ menu_ids }) => menu_ids.map(Number).includes(menu_id));
    const ids = noting.map(({ modifier_group_id }) => Number(modifier_group_id)).sort((a, b) => a - b);
    requireEqual(ids, wanted, 'the groups that name the menu');
  }
}

function requireShallow(id: number, outers: number[], inner: ReadonlyMap<number, number[]>): void {
  const path = [...outers, id];
  if (outers.includes(id) || path.length > 6) throw new Error(`groups lie within each other: ${path}`);
  for (const next of inner.get(id) ?? []) requireShallow(next, path, inner);
}

function idsOf(list: { modifier_group_id: number }[]): number[] {
  return list.map(({ modifier_group_id }) => modifier_group_id);
}

function requireEqual(found: unknown[], wanted: unknown[], what: string): void {
  if (JSON.stringify(found) !== JSON.stringify(wanted)) throw new Error(`${what}: ${found}, not ${wanted}`);
}
