import t from 'tap';
import { followEvents } from '../support/events.ts';
import { makeCategory, makeItem, makeLocation, makeMenu, makeModifierGroup } from '../support/records.ts';
import { startTestService } from '../support/service.ts';
import { whileLocked } from '../support/while-locked.ts';

const service = await startTestService(t);
const { api, database } = service;

// biome-ignore lint/suspicious/noExplicitAny: the contract check has validated it
type Resource = any;

const plain = { categories: [{ external_id: 'N', name: 'Nigiri', items: [] as Resource[] }] };

/** A document with a bowl that has sizes and sides, one of which has dressings. */
function bowl(): Resource {
  const use = (external_id: string, numbers = {}) => ({ external_id, ...numbers });
  return {
    data: {
      categories: [
        {
          external_id: 'N',
          name: 'Bowls',
          items: [
            { external_id: 'B', name: 'Bowl', price: 9, modifier_groups: [use('SIZE'), use('SIDES')] },
            { external_id: 'S', name: 'Salad', price: 4, modifier_groups: [use('DRESSING')] },
          ],
        },
      ],
      modifier_groups: [
        {
          external_id: 'SIZE',
          name: 'Size',
          min_selections: 1,
          max_selections: 1,
          modifiers: [
            { external_id: 'M', name: 'Medium', default_quantity: 1 },
            { external_id: 'L', name: 'Large', price: 2.5 },
          ],
        },
        {
          external_id: 'SIDES',
          name: 'Sides',
          modifiers: [
            {
              external_id: 'SALAD',
              name: 'Salad',
              price: 3,
              item: { external_id: 'S' },
              modifier_groups: [use('DRESSING', { min_selections: 1 })],
            },
          ],
        },
        { external_id: 'DRESSING', name: 'Dressing', modifiers: [{ external_id: 'P', name: 'Ponzu' }] },
      ],
    },
  };
}

async function makeImported(document: Resource = bowl()) {
  const { location_id } = await makeLocation(api);
  const menu = await makeMenu(api, location_id);
  const path = `/menus/${menu.menu_id}/content`;
  const response = await api.put(path, document);
  if (response.status !== 200) throw new Error(response.text);
  const groups = `/locations/${location_id}/modifier-groups`;
  return {
    location_id,
    menu,
    path,
    groups,
    exported: async () => (await api.get(path)).body,
    stored: async () => (await api.get(`/menus/${menu.menu_id}`)).body.data,
    atLocation: async () => (await api.get(groups)).body.data as Resource[],
    events: await followEvents(database),
  };
}

const tagOf = async (menu_id: number) => (await api.get(`/menus/${menu_id}`)).headers['etag'];

t.test(
  'an import creates groups, their contents and their uses in one step, with an event for each',
  async (t) => {
    const { location_id } = await makeLocation(api);
    const { menu_id } = await makeMenu(api, location_id);
    const events = await followEvents(database);
    const dry = await api.put(`/menus/${menu_id}/content?dry_run=true`, bowl());
    t.same(await events.next(), []);
    t.same((await api.get(`/locations/${location_id}/modifier-groups`)).body.data, []);
    const sides = { modifier_group_id: null, external_id: 'SIDES' };
    t.match(dry.body.data, {
      modifier_groups: {
        created: [
          { external_id: 'SIZE', name: 'Size' },
          { external_id: 'SIDES', name: 'Sides' },
          { external_id: 'DRESSING', name: 'Dressing' },
        ],
        updated: [],
        unchanged: 0,
      },
      modifiers: {
        created: [
          { external_id: 'M' },
          {},
          { external_id: 'SALAD', name: 'Salad', modifier_group: sides },
          {},
        ],
        updated: [],
        deleted: [],
        recreated: [],
        unchanged: 0,
      },
    });
    const response = await api.put(`/menus/${menu_id}/content`, bowl());
    t.same(response.body.data, { ...dry.body.data, dry_run: false });
    t.equal(response.headers['etag'], await tagOf(menu_id));

    const { categories, modifier_groups: groups } = (await api.get(`/menus/${menu_id}`)).body.data;
    const [size, side, dressing] = groups;
    const [own, salad] = categories[0].items;
    const use = ({ modifier_group_id }: Resource, min_selections: number | null = null) => {
      return { modifier_group_id, min_selections, max_selections: null };
    };
    t.same(own.modifier_groups, [use(size), use(side)]);
    t.same(salad.modifier_groups, [use(dressing)]);
    t.match(side.modifiers, [{ price: 3, item_id: salad.item_id, modifier_groups: [use(dressing, 1)] }]);
    const users = `/locations/${location_id}/modifier-groups/${dressing.modifier_group_id}/uses`;
    t.match((await api.get(users)).body.data, [
      { item_id: salad.item_id },
      { modifier_id: side.modifiers[0].modifier_id, min_selections: 1 },
    ]);

    const told = await events.next();
    const shown = (type: string) => told.filter((event) => event['type'] === type).map(({ data }) => data);
    t.same(
      shown('modifier_group.created'),
      groups.map(({ modifiers: _, ...group }: Resource) => group),
    );
    t.same(
      shown('modifier.created'),
      groups.flatMap(({ modifiers }: Resource) => modifiers),
    );
    t.same(shown('item.created'), [own, salad]);
    t.equal(told.length, 3 + 4 + 2 + 1);
    t.same([...new Set(told.map((event) => event['request_id']))], [response.headers['x-request-id']]);
  },
);

t.test('an import changes groups, and what it does not name stays', async (t) => {
  const { path, location_id, groups, exported, stored, atLocation, events } = await makeImported();
  const before = await stored();
  const document = await exported();
  const [size, sides] = document.data.modifier_groups;
  size.max_per_modifier = 2;
  size.max_selections = null;
  size.modifiers = [
    { external_id: 'XL', name: 'Extra large', price: 4 },
    { external_id: 'M', default_quantity: 0 },
  ];
  sides.modifiers[0].modifier_groups = [];
  sides.modifiers[0].item = null;
  document.data.categories[0].items[0].modifier_groups.reverse();
  document.data.modifier_groups.pop();
  const [group] = before.modifier_groups;
  const ref = ({ modifier_group_id, external_id }: Resource) => ({ modifier_group_id, external_id });
  const [first, second, third] = before.modifier_groups.map(ref);
  const use = (one: Resource, min_selections: number | null = null) => {
    return { ...one, min_selections, max_selections: null };
  };
  const [bowlItem, salad] = before.categories[0].items;
  const response = await api.put(path, document);
  t.same(response.body.data.items.updated, [
    {
      item_id: bowlItem.item_id,
      external_id: 'B',
      name: 'Bowl',
      old: { modifier_groups: [use(first), use(second)] },
      new: { modifier_groups: [use(second), use(first)] },
    },
  ]);
  t.same(response.body.data.modifier_groups, {
    created: [],
    updated: [
      {
        ...first,
        name: 'Size',
        old: { max_selections: 1, max_per_modifier: 1 },
        new: { max_selections: null, max_per_modifier: 2 },
      },
    ],
    unchanged: 1,
  });
  const [medium, large] = group.modifiers;
  const [side] = before.modifier_groups[1].modifiers;
  t.same(response.body.data.modifiers, {
    created: [{ external_id: 'XL', name: 'Extra large', modifier_group: first }],
    updated: [
      {
        modifier_id: medium.modifier_id,
        external_id: 'M',
        name: 'Medium',
        modifier_group: first,
        old: { default_quantity: 1, sort_order: 0 },
        new: { default_quantity: 0, sort_order: 1 },
      },
      {
        modifier_id: side.modifier_id,
        external_id: 'SALAD',
        name: 'Salad',
        modifier_group: second,
        old: {
          item: { item_id: salad.item_id, external_id: 'S' },
          modifier_groups: [use(third, 1)],
        },
        new: { item: null, modifier_groups: [] },
      },
    ],
    deleted: [{ modifier_id: large.modifier_id, external_id: 'L', name: 'Large', modifier_group: first }],
    recreated: [],
    unchanged: 0,
  });
  t.same((await events.nextTypes()).toSorted(), [
    'item.updated',
    'modifier.created',
    'modifier.deleted',
    'modifier.updated',
    'modifier.updated',
    'modifier_group.updated',
  ]);
  t.same(
    (await stored()).modifier_groups.map(({ external_id }: Resource) => external_id),
    ['SIZE', 'SIDES', 'DRESSING'],
  );
  t.same((await stored()).categories[0].items[1], salad, 'an item that keeps its uses is as it was');
  const uses = await api.get(`${groups}/${third.modifier_group_id}/uses`);
  t.match(uses.body.data, [{ item_id: salad.item_id }]);
  t.equal(uses.body.data.length, 1);

  await api.put(path, { data: { categories: [], modifier_groups: [] } });
  t.equal((await atLocation()).length, 3, 'no group is deleted, although nothing uses it');
  t.same((await stored()).modifier_groups, []);
  t.same((await events.nextTypes()).toSorted(), ['category.deleted', 'item.deleted', 'item.deleted']);
  t.equal(location_id, group.location_id);
});

t.test('a document that does not mention groups, uses or hours keeps them, as JSON or as CSV', async (t) => {
  const { path, menu, exported, stored, events } = await makeImported();
  const hours = { weekly: [{ days: ['fri'], from: '22:00', minutes: 240 }] };
  const { categories } = await stored();
  await api.put(`/menus/${menu.menu_id}`, { hours });
  await api.put(`/menus/${menu.menu_id}/categories/${categories[0].category_id}`, { hours });
  await api.put(`/menus/${menu.menu_id}/items/${categories[0].items[0].item_id}`, { hours });
  const before = await stored();
  await events.next();
  const { data } = await exported();
  const silent = {
    categories: data.categories.map(({ items, hours: _, ...category }: Resource) => ({
      ...category,
      items: items.map(({ external_id, name }: Resource) => ({ external_id, name: `${name} *` })),
    })),
  };
  const csv = (await api.get(path, { headers: { accept: 'text/csv' } })).text;
  t.notMatch(csv, /SIZE|hours|22:00/);
  const headers = { 'content-type': 'text/csv' };
  const imports = [
    () => api.put(path, { data: silent }),
    () => api.call('PUT', path, { body: csv, headers }),
  ];
  for (const send of imports) {
    const response = await send();
    const names = response.body.data.items.updated.map((one: Resource) => Object.keys(one.new));
    t.same(names, [['name'], ['name']]);
    t.same(await events.nextTypes(), ['item.updated', 'item.updated']);
  }
  const after = await stored();
  const withoutVersions = (menu: object) =>
    JSON.parse(JSON.stringify(menu), (name, value) => (/^(version|updated_at)$/.test(name) ? 0 : value));
  t.same(withoutVersions(after), withoutVersions(before));

  const partly = { categories: data.categories, modifier_groups: [{ external_id: 'SIZE', name: 'Sizes' }] };
  t.match((await api.put(path, { data: partly })).body.data.modifiers, { deleted: [], unchanged: 0 });
  t.equal(
    (await stored()).modifier_groups[0].modifiers.length,
    2,
    'a group that says nothing of its modifiers',
  );
});

t.test('a group that other menus show changes there too; their ETags change, and no others', async (t) => {
  const { path, location_id, menu, exported, stored } = await makeImported();
  const [size, sides, dressing] = (await stored()).modifier_groups;
  const others = [];
  for (const used of [size, sides, dressing, undefined]) {
    const other = await makeMenu(api, location_id);
    const item = await makeItem(api, await makeCategory(api, other.menu_id));
    const modifier_groups = used ? [{ modifier_group_id: used.modifier_group_id }] : [];
    await api.put(`/menus/${other.menu_id}/items/${item.item_id}/modifier-groups`, { modifier_groups });
    others.push(other.menu_id);
  }
  const changes: [string, (document: Resource) => void, number[]][] = [
    ['nothing', () => {}, []],
    [
      'an item alone',
      ({ data }) => {
        data.categories[0].items[0].price += 1;
      },
      [],
    ],
    [
      'the size',
      ({ data }) => {
        data.modifier_groups[0].name = 'Sizes';
      },
      [0],
    ],
    [
      'a modifier',
      ({ data }) => {
        data.modifier_groups[1].modifiers[0].price += 1;
      },
      [1],
    ],
    [
      'a nested one',
      ({ data }) => {
        data.modifier_groups[2].modifiers[0].name = 'Goma';
      },
      [1, 2],
    ],
    [
      'a new one',
      ({ data }) => void data.modifier_groups[2].modifiers.push({ external_id: 'G', name: 'G' }),
      [1, 2],
    ],
    [
      'a nesting',
      ({ data }) => {
        data.modifier_groups[1].modifiers[0].modifier_groups = [];
      },
      [1],
    ],
    [
      'a nested one that is not any more',
      ({ data }) => {
        data.modifier_groups[2].name = 'D';
      },
      [2],
    ],
    [
      'uses by items',
      ({ data }) => {
        data.categories[0].items[0].modifier_groups = [];
      },
      [],
    ],
  ];
  for (const [what, change, raised] of changes) {
    const before = await Promise.all([...others, menu.menu_id].map(tagOf));
    const document = await exported();
    change(document);
    t.equal((await api.put(path, document)).status, 200, what);
    const after = await Promise.all([...others, menu.menu_id].map(tagOf));
    const changed = others.flatMap((_, place) => (before[place] === after[place] ? [] : [place]));
    t.same(changed, raised, what);
    t.equal(before.at(-1) === after.at(-1), what === 'nothing', what);
  }
});

t.test('what a kitchen has switched off stays off, unless the document mentions it', async (t) => {
  const { path, groups, exported, stored, events } = await makeImported();
  const [size] = (await stored()).modifier_groups;
  const modifierPath = `${groups}/${size.modifier_group_id}/modifiers/${size.modifiers[1].modifier_id}`;
  const until = new Date(Date.now() + 3_600_000).toISOString();
  await api.put(modifierPath, { unavailable_until: until });
  await events.next();
  const document = await exported();
  t.notOk('is_available' in document.data.modifier_groups[0].modifiers[1]);
  document.data.modifier_groups[0].modifiers[1].price = 3;
  await api.put(path, document);
  t.match((await stored()).modifier_groups[0].modifiers[1], {
    price: 3,
    is_available: false,
    unavailable_until: until,
  });
  t.same(await events.nextTypes(), ['modifier.updated']);
  document.data.modifier_groups[0].modifiers[1].is_available = true;
  const response = await api.put(path, document);
  t.match(response.body.data.modifiers.updated, [
    { old: { is_available: false, unavailable_until: until }, new: { is_available: true } },
  ]);
  t.match(await events.next(), [
    { type: 'modifier.toggled', previous: { is_available: false, unavailable_until: until } },
  ]);
  const full = (await api.get(`${path}?availability=true`)).body.data.modifier_groups[0].modifiers[0];
  t.match(full, { is_available: true, unavailable_until: null });
});

t.test(
  'groups and modifiers without an external_id are identified by their ids, and can be given one',
  async (t) => {
    const { location_id } = await makeLocation(api);
    const menu = await makeMenu(api, location_id);
    const item = await makeItem(api, await makeCategory(api, menu.menu_id));
    const group = await makeModifierGroup(api, location_id);
    const { modifier_group_id } = group;
    await api.put(`/menus/${menu.menu_id}/items/${item.item_id}/modifier-groups`, {
      modifier_groups: [{ modifier_group_id }],
    });
    const path = `/menus/${menu.menu_id}/content`;
    const document = (await api.get(path)).body;
    t.match(document.data.categories[0].items[0].modifier_groups, [{ modifier_group_id }]);
    const [{ modifiers, ...named }] = document.data.modifier_groups;
    t.match(named, { modifier_group_id, name: 'Size' });
    t.match(modifiers, [{ modifier_id: group.modifiers[0].modifier_id }, {}]);
    document.data.modifier_groups[0].external_id = 'SIZE';
    modifiers[0].external_id = 'S';
    const response = await api.put(path, document);
    t.match(response.body.data, {
      items: { updated: [], unchanged: 1 },
      modifier_groups: {
        updated: [{ modifier_group_id, old: { external_id: null }, new: { external_id: 'SIZE' } }],
      },
      modifiers: { updated: [{ old: { external_id: null }, new: { external_id: 'S' } }], unchanged: 1 },
    });
    t.match((await api.put(path, document)).body.data.modifier_groups, { updated: [], unchanged: 1 });
    t.match((await api.get(path)).body.data.categories[0].items[0].modifier_groups, [
      { external_id: 'SIZE' },
    ]);
  },
);

t.test(
  'a modifier stands for an item of the document, of another menu, or for one that is gone',
  async (t) => {
    const { path, location_id, exported, stored, menu } = await makeImported();
    const other = await makeMenu(api, location_id);
    const there = await makeItem(api, await makeCategory(api, other.menu_id), { external_id: 'S' });
    const document = await exported();
    const [side] = document.data.modifier_groups[1].modifiers;
    const standsFor = async () => (await stored()).modifier_groups[1].modifiers[0].item_id;
    t.same(side.item, { external_id: 'S' });
    side.item = { item_id: there.item_id };
    t.equal((await api.put(path, document)).status, 200);
    t.equal(await standsFor(), there.item_id);
    t.same((await exported()).data.modifier_groups[1].modifiers[0].item, { item_id: there.item_id });
    await api.delete(`/menus/${other.menu_id}/items/${there.item_id}`);
    t.match((await api.put(path, await exported())).body.data.modifiers, { updated: [], unchanged: 4 });
    side.item = { external_id: 'NEW' };
    document.data.categories[0].items.push({ external_id: 'NEW', name: 'New', price: 1 });
    const { modifiers } = (await api.put(path, document)).body.data;
    t.match(modifiers.updated[0].new, { item: { item_id: null, external_id: 'NEW' } });
    t.equal(await standsFor(), (await stored()).categories[0].items[2].item_id);

    const stranger = await service.client({ account: 'Other' });
    const elsewhere = await makeLocation(stranger);
    const strange = await makeMenu(stranger, elsewhere.location_id);
    const foreign = await makeItem(stranger, await makeCategory(stranger, strange.menu_id));
    const place = '/data/modifier_groups/1/modifiers/0/item';
    for (const [item, field, code] of [
      [{ item_id: foreign.item_id }, `${place}/item_id`, 'not_found'],
      [{ item_id: 1 }, `${place}/item_id`, 'not_found'],
      [{ external_id: 'nowhere' }, `${place}/external_id`, 'not_found'],
      [{}, place, 'required'],
      [{ external_id: 'S', item_id: there.item_id }, place, 'conflict'],
    ]) {
      side.item = item;
      const refused = await api.put(path, document);
      t.match(refused.body.errors, [{ field, code }], JSON.stringify(item));
      t.equal(refused.body.errors.length, 1);
    }
    t.equal(menu.location_id, location_id);
  },
);

t.test(
  'every error in the groups of a document is listed with its pointer, and nothing is changed',
  async (t) => {
    const { path, location_id, exported, stored, atLocation, events } = await makeImported();
    const elsewhere = await makeLocation(api);
    const { modifier_group_id } = await makeModifierGroup(api, elsewhere.location_id, { external_id: 'FAR' });
    const before = [await stored(), await atLocation()];
    const errorsOf = async (change: (data: Resource) => void) => {
      const document = await exported();
      change(document.data);
      const response = await api.put(path, document);
      const dry = await api.put(`${path}?dry_run=true`, document);
      t.same(dry.body.errors, response.body.errors, 'a dry run says the same');
      return response.body.errors?.map(({ field, code }: Resource) => `${field} ${code}`) ?? response.status;
    };
    const groups = '/data/modifier_groups';
    const items = '/data/categories/0/items';
    const cases: [string, (data: Resource) => void, string[]][] = [
      [
        'names',
        (data) => {
          data.modifier_groups.push(
            { external_id: 'SIZE' },
            { name: 'x' },
            { external_id: 'new' },
            { modifier_group_id },
            {
              external_id: 'M',
              name: 'M',
              modifiers: [{ external_id: 'a' }, { name: 'b' }, { modifier_id: 1 }],
            },
          );
          data.categories[0].items[0].modifier_groups = [
            { external_id: 'SIZE' },
            { external_id: 'SIZE' },
            { external_id: 'FAR' },
            { modifier_group_id },
            {},
          ];
        },
        [
          `${groups}/3/external_id duplicate`,
          `${groups}/4/external_id required`,
          `${groups}/5/name required`,
          `${groups}/6/modifier_group_id not_found`,
          `${items}/0/modifier_groups/1 duplicate`,
          `${items}/0/modifier_groups/2/external_id not_found`,
          `${items}/0/modifier_groups/3/modifier_group_id not_found`,
          `${items}/0/modifier_groups/4/external_id required`,
          `${groups}/7/modifiers/0/name required`,
          `${groups}/7/modifiers/1/external_id required`,
          `${groups}/7/modifiers/2/modifier_id not_found`,
        ],
      ],
      [
        'values',
        (data) => {
          Object.assign(data.modifier_groups[0], { min_selections: -1, max_selections: 0, colour: 1 });
          Object.assign(data.modifier_groups[0].modifiers[0], {
            price: 1.005,
            unavailable_until: '2001-01-01T00:00:00Z',
          });
          data.modifier_groups[0].modifiers[1].price = 0.0001;
          data.modifier_groups[1].modifiers = Array.from({ length: 101 }, (_, place) => ({
            external_id: `${place}`,
            name: 'x',
          }));
        },
        [
          `${groups}/0/min_selections too_small`,
          `${groups}/0/max_selections too_small`,
          `${groups}/0/colour unknown`,
          `${groups}/0/modifiers/1/price precision`,
          `${groups}/1/modifiers too_many`,
          `${groups}/0/modifiers/0/unavailable_until past`,
          `${groups}/0/modifiers/0/price precision`,
        ],
      ],
      [
        'a circle of two',
        ({ modifier_groups }) => {
          modifier_groups[2].modifiers[0].modifier_groups = [
            { external_id: 'SIZE' },
            { external_id: 'SIDES' },
          ];
        },
        [`${groups}/2/modifiers/0/modifier_groups/1 circle`],
      ],
      [
        'a group within itself',
        ({ modifier_groups }) => {
          modifier_groups[0].modifiers[0].modifier_groups = [{ external_id: 'SIZE' }];
        },
        [`${groups}/0/modifiers/0/modifier_groups/0 circle`],
      ],
      [
        'seven levels',
        ({ modifier_groups }) => {
          for (const level of [1, 2, 3, 4, 5, 6, 7])
            modifier_groups.push({
              external_id: `G${level}`,
              name: 'G',
              modifiers: [
                {
                  external_id: 'm',
                  name: 'm',
                  modifier_groups: level < 7 ? [{ external_id: `G${level + 1}` }] : [],
                },
              ],
            });
        },
        [3, 4, 5, 6, 7, 8].map((place) => `${groups}/${place}/modifiers/0/modifier_groups/0 too_deep`),
      ],
      [
        'what cannot be met in groups',
        ({ modifier_groups: [size, sides, dressing] }) => {
          size.min_selections = 3;
          Object.assign(sides.modifiers[0], { default_quantity: 2 });
          dressing.max_selections = 1;
          dressing.modifiers = [];
        },
        [
          `${groups}/0/min_selections unmet`,
          `${groups}/0/min_selections unmet`,
          `${groups}/1/max_per_modifier unmet`,
          `${groups}/1/modifiers/0/modifier_groups/0/min_selections unmet`,
        ],
      ],
      [
        'what cannot be met in uses',
        ({ categories }) => {
          categories[0].items[0].modifier_groups = [
            { external_id: 'SIZE', min_selections: 3 },
            { external_id: 'SIDES', min_selections: 2, max_selections: 1 },
          ];
        },
        [
          `${items}/0/modifier_groups/0/min_selections unmet`,
          `${items}/0/modifier_groups/0/min_selections unmet`,
          `${items}/0/modifier_groups/1/min_selections unmet`,
          `${items}/0/modifier_groups/1/min_selections unmet`,
        ],
      ],
      [
        'what cannot be met in a use that the document does not speak of',
        ({ modifier_groups }) => {
          delete modifier_groups[1].modifiers[0].modifier_groups;
          modifier_groups[2].modifiers = [];
        },
        [`${groups}/2/min_selections unmet`],
      ],
    ];
    await events.next();
    for (const [what, change, errors] of cases)
      t.same((await errorsOf(change))?.toSorted?.(), errors.toSorted(), what);
    t.same([await stored(), await atLocation()], before);
    t.same(await events.next(), []);
    t.equal(before[1].length, 3);
    t.ok(location_id);
  },
);

t.test('a use on another menu keeps a group from being changed so that it could not be met', async (t) => {
  const { path, location_id, exported, stored } = await makeImported();
  const [size] = (await stored()).modifier_groups;
  const other = await makeMenu(api, location_id);
  const item = await makeItem(api, await makeCategory(api, other.menu_id));
  const modifier_groups = [
    { modifier_group_id: size.modifier_group_id, min_selections: 0, max_selections: 2 },
  ];
  await api.put(`/menus/${other.menu_id}/items/${item.item_id}/modifier-groups`, { modifier_groups });
  const document = await exported();
  Object.assign(document.data.modifier_groups[0], { max_selections: null, max_per_modifier: 3 });
  document.data.modifier_groups[0].modifiers[0].default_quantity = 3;
  t.match((await api.put(path, document)).body.errors, [
    { field: '/data/modifier_groups/0/max_selections', code: 'unmet', message: /in a use/ },
  ]);
});

t.test('a location has 500 groups at most, including those that the document does not name', async (t) => {
  const { location_id } = await makeLocation(api);
  const { menu_id } = await makeMenu(api, location_id);
  const groups = (count: number, name: string) =>
    Array.from({ length: count }, (_, place) => ({ external_id: `${name}${place}`, name }));
  const send = (modifier_groups: object[]) =>
    api.put(`/menus/${menu_id}/content`, { data: { ...plain, modifier_groups } });
  t.equal((await send(groups(499, 'a'))).status, 200);
  t.match((await send(groups(2, 'b'))).body.errors, [{ field: '/data/modifier_groups', code: 'too_many' }]);
  t.equal((await send(groups(1, 'b'))).status, 200);
  t.equal((await send(groups(499, 'a'))).status, 200);
});

t.test('two imports that create the same group at once create one', async (t) => {
  const { location_id } = await makeLocation(api);
  const menus = await Promise.all([1, 2, 3].map(() => makeMenu(api, location_id)));
  const clients = await Promise.all(menus.map(() => service.client()));
  const responses = await Promise.all(
    menus.map(({ menu_id }, place) => clients[place]?.put(`/menus/${menu_id}/content`, bowl())),
  );
  t.same(
    responses.map((response) => response?.status),
    [200, 200, 200],
  );
  t.equal((await api.get(`/locations/${location_id}/modifier-groups`)).body.data.length, 3);
});

t.test(
  'an import that finds a group changed when its turn comes makes it what the document says',
  async (t) => {
    const { path, groups, menu, exported, stored } = await makeImported();
    const document = await exported();
    document.data.categories[0].items[0].price = 10;
    const [size] = (await stored()).modifier_groups;
    const { item_id } = (await stored()).categories[0].items[0];
    const [response] = await whileLocked(database, ['item', item_id], [() => api.put(path, document)], () =>
      api.put(`${groups}/${size.modifier_group_id}`, { name: 'Other' }),
    );
    t.equal(response?.status, 200);
    t.match(response?.body.data, {
      items: { updated: [{ new: { price: 10 } }] },
      modifier_groups: { updated: [{ old: { name: 'Other' }, new: { name: 'Size' } }] },
    });
    t.equal((await stored()).modifier_groups[0].name, 'Size');
    t.equal(response?.headers['etag'], await tagOf(menu.menu_id));
  },
);

t.test('prices of modifiers are written with the decimal places of the currency', async (t) => {
  const { path, exported } = await makeImported();
  t.match((await api.get(path)).text, /"name":"Large","description":"","price":2\.50,/);
  const document = await exported();
  document.data.modifier_groups[0].modifiers[1].price = 2.6;
  t.match(
    (await api.put(`${path}?dry_run=true`, document)).text,
    '"old":{"price":2.50},"new":{"price":2.60}',
  );
});

t.test('a modifier that is deleted and created again under another name is reported', async (t) => {
  const { path, exported } = await makeImported();
  const document = await exported();
  document.data.modifier_groups[0].modifiers[1].external_id = ' l';
  const { recreated } = (await api.put(`${path}?dry_run=true`, document)).body.data.modifiers;
  t.match(recreated, [{ external_id: 'L', new_external_id: ' l', name: 'Large' }]);
});
