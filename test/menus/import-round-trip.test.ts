import fc from 'fast-check';
import { sql } from 'kysely';
import t from 'tap';
import { someHours } from '../hours/some-hours.ts';
import { followEvents } from '../support/events.ts';
import { makeLocation, makeMenu } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

/*
 * Import and export are each other's opposites, for menus of any categories, items, hours and modifier groups within
 * each other, and whatever of it has an external_id.
 */

const service = await startTestService(t);
const { api, database } = service;

// biome-ignore lint/suspicious/noExplicitAny: JSON of the contract, looked into freely
type Json = any;

const text = fc.constantFrom('Miso', '味噌汁', 'مشاوي', '🍣 "x"', "O'Neill; a,b", '-1');
const labels = fc.subarray(['fish', 'soy', 'wheat', 'raw;x']);
const hours = fc.option(
  someHours(Date.UTC(2026, 0, 1)).map(({ dates, valid_from, valid_until, ...rest }) => ({
    ...rest,
    // An item has no room for more.
    dates: dates.slice(0, 2),
    ...(valid_from && valid_until && valid_until < valid_from
      ? { valid_from: valid_until, valid_until: valid_from }
      : { valid_from, valid_until }),
  })),
  { freq: 2 },
);
const price = fc.nat(99_999).map((cents) => cents / 100);

/** Rules that what is in the group can meet. */
const rules = (quantities: number[], each: number) => {
  const [selected, possible] = [quantities.reduce((sum, one) => sum + one, 0), quantities.length * each];
  return fc.tuple(fc.nat(possible), fc.option(fc.nat(3))).map(([min_selections, more]) => ({
    min_selections,
    max_selections: more === null ? null : Math.max(1, min_selections, selected) + more,
  }));
};

const group = fc
  .tuple(fc.array(fc.nat(2), { maxLength: 4 }), fc.integer({ min: 2, max: 3 }))
  .chain(([quantities, max_per_modifier]) =>
    fc.record({
      name: text,
      description: text,
      rules: rules(quantities, max_per_modifier),
      ownNumbers: fc.option(rules(quantities, max_per_modifier)),
      max_per_modifier: fc.constant(max_per_modifier),
      free_selections: fc.nat(2),
      modifiers: fc.tuple(
        ...quantities.map((default_quantity) =>
          fc.record({
            name: text,
            description: text,
            price,
            default_quantity: fc.constant(default_quantity),
            item: fc.option(fc.nat(5)),
            allergens: labels,
            dietary_tags: labels,
            uses: fc.uniqueArray(fc.nat(5), { maxLength: 3 }),
            is_available: fc.boolean(),
          }),
        ),
      ),
    }),
  );

const item = fc.record({
  name: text,
  description: text,
  price,
  photo_url: fc.constantFrom(null, 'https://images.example.com/a.jpg'),
  allergens: labels,
  dietary_tags: labels,
  hours,
  uses: fc.uniqueArray(fc.nat(5), { maxLength: 4 }),
  is_available: fc.boolean(),
});

const content = fc
  .record({
    name: text,
    description: text,
    is_active: fc.boolean(),
    hours,
    categories: fc.array(
      fc.record({
        name: text,
        description: text,
        hours,
        items: fc.array(item, { maxLength: 3 }),
      }),
      { maxLength: 3 },
    ),
    groups: fc.array(group, { maxLength: 6 }),
  })
  .map(document);

/** Gives each record its name; a group may use those that come after it. */
function document({ groups, categories, ...menu }: Json): Json {
  const items = categories.flatMap((category: Json) => category.items);
  const uses = (list: number[], after: number) =>
    list
      .filter((place) => place > after && place < groups.length)
      .map((place) => ({
        external_id: `G${place}`,
        ...(groups[place].ownNumbers ?? { min_selections: null, max_selections: null }),
      }));
  let count = 0;
  return {
    ...menu,
    categories: categories.map((category: Json, place: number) => ({
      external_id: `C${place}`,
      ...category,
      items: category.items.map(({ uses: list, ...one }: Json) => {
        count += 1;
        const modifier_groups = uses(list, -1);
        return { external_id: `I${count}`, ...one, unavailable_until: null, modifier_groups };
      }),
    })),
    modifier_groups: groups.map(({ rules, ownNumbers: _, modifiers, ...one }: Json, place: number) => ({
      external_id: `G${place}`,
      ...one,
      ...rules,
      modifiers: modifiers.map(({ uses: list, item, ...modifier }: Json, at: number) => ({
        external_id: `M${at}`,
        ...modifier,
        item: item === null || item >= items.length ? null : { external_id: `I${item + 1}` },
        unavailable_until: null,
        modifier_groups: uses(list, place),
      })),
    })),
  };
}

/** The document without the groups that no item leads to, which belong to the location alone. */
function reachable(data: Json): Json {
  const groups: Json[] = data.modifier_groups;
  const names = new Set<string>();
  const follow = (uses: Json[]) => {
    for (const { external_id } of uses)
      if (!names.has(external_id)) {
        names.add(external_id);
        for (const one of groups.find((group) => group.external_id === external_id).modifiers)
          follow(one.modifier_groups);
      }
  };
  for (const { items } of data.categories) for (const { modifier_groups } of items) follow(modifier_groups);
  return { ...data, modifier_groups: groups.filter(({ external_id }) => names.has(external_id)) };
}

const kinds = ['category', 'item', 'modifier_group', 'modifier'] as const;
/** Which records lose their external_id: those whose id leaves this rest when divided by three. */
const nameless = fc.tuple(...kinds.map(() => fc.integer({ min: 0, max: 5 })));

const nothing = { created: [], updated: [] };
const none = {
  menu: null,
  categories: { ...nothing, deleted: [] },
  items: { ...nothing, deleted: [] },
  modifier_groups: nothing,
  modifiers: { ...nothing, deleted: [] },
};

async function emptyMenu(): Promise<{ menu_id: number; location_id: number; path: string }> {
  const { location_id } = await makeLocation(api);
  const { menu_id } = await makeMenu(api, location_id);
  return { menu_id, location_id, path: `/menus/${menu_id}/content` };
}

t.test('what is exported is what was imported, and importing it again changes nothing', async (t) => {
  const property = fc.asyncProperty(content, nameless, async (data, rests) => {
    const { menu_id, location_id, path } = await emptyMenu();
    const dry = await api.put(`${path}?dry_run=true`, { data });
    const first = await api.put(path, { data });
    t.equal(first.status, 200, first.text.slice(0, 1_000));
    t.same(first.body.data, { ...dry.body.data, dry_run: false });
    const full = `${path}?availability=true`;
    const exported = (await api.get(full)).body;
    t.same(exported.data, reachable(data));
    t.match((await api.put(path, { data })).body.data, none, 'a second time');

    const copy = await emptyMenu();
    await api.put(copy.path, exported);
    t.same((await api.get(`${copy.path}?availability=true`)).body, exported, 'at another location');

    for (const [place, kind] of kinds.entries())
      await sql`update ${sql.table(kind)} set external_id = null
        where location_id = ${location_id} and ${sql.ref(`${kind}_id`)} % 3 = ${rests[place]}`.execute(
        database,
      );
    const before = (await api.get(`/menus/${menu_id}`)).text;
    const events = await followEvents(database);
    for (const sent of [await api.get(full), await api.get(path)]) {
      const again = await api.put(path, sent.body);
      t.match(again.body.data, none, JSON.stringify(sent.body));
    }
    const headers = { 'content-type': 'text/csv' };
    const { text } = await api.get(path, { headers: { accept: 'text/csv' } });
    t.match((await api.call('PUT', path, { body: text, headers })).body.data, none, text);
    t.equal((await api.get(`/menus/${menu_id}`)).text, before);
    t.same(await events.next(), []);
  });
  await fc.assert(property, { numRuns: 40, seed: 15, endOnFailure: true });
});

t.test('from any menu an import leads to any other, and reports each change', async (t) => {
  const property = fc.asyncProperty(content, content, async (from, to) => {
    const { menu_id, path } = await emptyMenu();
    await api.put(path, { data: from });
    const second = await api.put(path, { data: to });
    const shown = (await api.get(`${path}?availability=true`)).body.data;
    const byName = (one: Json, other: Json) => (one.external_id < other.external_id ? -1 : 1);
    const sorted = ({ modifier_groups, ...data }: Json) => ({
      ...data,
      modifier_groups: modifier_groups.toSorted(byName),
    });
    t.same(sorted(shown), sorted(reachable(to)), second.text.slice(0, 1_000));
    t.match((await api.put(path, { data: to })).body.data, none, 'a second time');
    const { modifier_groups } = (await api.get(`/menus/${menu_id}`)).body.data;
    t.equal(modifier_groups.length, reachable(to).modifier_groups.length);
  });
  await fc.assert(property, { numRuns: 25, seed: 16, endOnFailure: true });
});
