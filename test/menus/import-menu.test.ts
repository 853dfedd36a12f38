import t from 'tap';
import { type Event, followEvents } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { makeCategory, makeItem, makeLocation, makeMenu } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api } = service;

/** A menu with Nigiri (salmon, tuna, eel) and Rolls (avocado), all with an external_id. */
async function makeSushiMenu() {
  const { location_id } = await makeLocation(api);
  const menu = await makeMenu(api, location_id, { description: 'From five.' });
  const nigiri = await makeCategory(api, menu.menu_id, { external_id: 'N' });
  const rolls = await makeCategory(api, menu.menu_id, { external_id: 'R', name: 'Rolls' });
  const salmon = await makeItem(api, nigiri, { external_id: 'S', allergens: ['fish'] });
  const tuna = await makeItem(api, nigiri, { external_id: 'T', name: 'Tuna', price: 5.2 });
  const eel = await makeItem(api, nigiri, { external_id: 'E', name: 'Eel', price: 6 });
  const avocado = await makeItem(api, rolls, { external_id: 'A', name: 'Avocado', price: 7 });
  const path = `/menus/${menu.menu_id}/content`;
  return {
    menu,
    nigiri,
    rolls,
    salmon,
    tuna,
    eel,
    avocado,
    path,
    exported: async () => (await api.get(path)).body,
    stored: async () => (await api.get(`/menus/${menu.menu_id}`)).body.data,
    events: await followEvents(service.database),
  };
}

const nothing = { created: [], updated: [], deleted: [] };

t.test(
  'a dry run reports the exact changes and makes none; the import makes and reports the same',
  async (t) => {
    const { path, menu, nigiri, rolls, salmon, tuna, eel, exported, stored, events } = await makeSushiMenu();
    const document = await exported();
    const [first, second] = document.data.categories;
    document.data.name = ' Late evening ';
    document.data.is_active = false;
    first.description = 'Two pieces.';
    first.items = [
      { external_id: 'Y', name: 'Yellowtail', price: 5.5 },
      { ...first.items[0], price: 4.9, allergens: ['fish', 'soy'], is_available: false },
      first.items[1],
    ];
    second.items.push({
      external_id: 'C',
      name: 'Cucumber',
      price: 3,
      unavailable_until: '2099-01-01T00:00:00Z',
    });
    const keyN = { category_id: nigiri.category_id, external_id: 'N' };
    const keyR = { category_id: rolls.category_id, external_id: 'R' };
    const diff = {
      menu_id: menu.menu_id,
      dry_run: true,
      menu: { old: { name: 'Evening', is_active: true }, new: { name: 'Late evening', is_active: false } },
      categories: {
        ...nothing,
        updated: [
          {
            category_id: nigiri.category_id,
            external_id: 'N',
            name: 'Nigiri',
            old: { description: '' },
            new: { description: 'Two pieces.' },
          },
        ],
        recreated: [],
        unchanged: 1,
      },
      items: {
        created: [
          { external_id: 'Y', name: 'Yellowtail', category: keyN },
          { external_id: 'C', name: 'Cucumber', category: keyR },
        ],
        updated: [
          {
            item_id: salmon.item_id,
            external_id: 'S',
            name: 'Salmon',
            old: { price: 4.5, allergens: ['fish'], is_available: true, sort_order: 0 },
            new: { price: 4.9, allergens: ['fish', 'soy'], is_available: false, sort_order: 1 },
          },
          {
            item_id: tuna.item_id,
            external_id: 'T',
            name: 'Tuna',
            old: { sort_order: 1 },
            new: { sort_order: 2 },
          },
        ],
        deleted: [{ item_id: eel.item_id, external_id: 'E', name: 'Eel' }],
        recreated: [],
        unchanged: 1,
      },
      modifier_groups: { created: [], updated: [], unchanged: 0 },
      modifiers: { ...nothing, recreated: [], unchanged: 0 },
    };

    const before = await stored();
    const dry = await api.put(`${path}?dry_run=true`, document);
    t.strictSame(dry.body.data, diff);
    t.strictSame(await stored(), before);
    t.strictSame(await events.next(), []);

    const real = await api.put(path, document);
    t.strictSame(real.body.data, { ...diff, dry_run: false });
    t.equal(real.headers['etag'], (await api.get(`/menus/${menu.menu_id}`)).headers['etag']);
    const after = await stored();
    t.match(after, { name: 'Late evening', is_active: false, version: menu.version + 1 });
    t.match(after.categories[0], { description: 'Two pieces.', version: nigiri.version + 1 });
    const shown = after.categories.map(({ items }: { items: { name: string }[] }) =>
      items.map(({ name }) => name),
    );
    t.strictSame(shown, [
      ['Yellowtail', 'Salmon', 'Tuna'],
      ['Avocado', 'Cucumber'],
    ]);
    t.match(after.categories[1].items[1], {
      is_available: false,
      unavailable_until: '2099-01-01T00:00:00.000Z',
      description: '',
      version: 1,
    });

    const told = await events.next();
    const of = (type: string) => told.filter((event) => event['type'] === type);
    t.strictSame(told.map((event) => event['type']).toSorted(), [
      'category.updated',
      'item.created',
      'item.created',
      'item.deleted',
      'item.toggled',
      'item.updated',
      'item.updated',
      'menu.toggled',
      'menu.updated',
    ]);
    t.match(of('item.deleted'), [{ data: eel, previous: null, menu_id: menu.menu_id }]);
    const [newSalmon, newTuna] = after.categories[0].items.slice(1);
    const previous = { price: 4.5, allergens: ['fish'], is_available: true, sort_order: 0 };
    t.match(of('item.toggled'), [{ data: newSalmon, previous }]);
    t.strictSame(
      of('item.updated').map(({ data, previous }: Event) => ({ data, previous })),
      [
        { data: newSalmon, previous },
        { data: newTuna, previous: { sort_order: 1 } },
      ],
    );
    t.match(of('menu.toggled'), [{ previous: { name: 'Evening', is_active: true } }]);
    t.match(of('category.updated'), [{ previous: { description: '' } }]);
    const responses = new Set(told.map((event) => event['request_id']));
    t.strictSame([...responses], [real.headers['x-request-id']]);

    const again = await api.put(path, document);
    t.match(again.body.data, { menu: null, categories: nothing, items: nothing });
    t.strictSame(await events.next(), [], 'a second time nothing changes');
  },
);

t.test('items move between categories, even into a new one while the old one is deleted', async (t) => {
  const { path, nigiri, rolls, salmon, avocado, exported, stored, events } = await makeSushiMenu();
  const document = await exported();
  const [old, other] = document.data.categories;
  document.data.categories = [
    { ...other, items: [old.items[2], ...other.items] },
    { external_id: 'NEW', name: 'Specials', items: [old.items[0]] },
  ];
  const response = await api.put(path, document);
  t.match(response.body.data.categories, {
    created: [{ external_id: 'NEW', name: 'Specials' }],
    deleted: [{ category_id: nigiri.category_id, external_id: 'N', name: 'Nigiri' }],
  });
  t.match(response.body.data.items.updated, [
    { external_id: 'E', old: { category: { category_id: nigiri.category_id, external_id: 'N' } } },
    { external_id: 'A', old: { sort_order: 0 }, new: { sort_order: 1 } },
    { external_id: 'S', new: { category: { category_id: null, external_id: 'NEW' } } },
  ]);
  t.match(response.body.data.items.deleted, [{ external_id: 'T' }]);

  const { categories } = await stored();
  t.match(categories, [
    { category_id: rolls.category_id, items: [{ external_id: 'E' }, { item_id: avocado.item_id }] },
    { external_id: 'NEW', items: [{ item_id: salmon.item_id, version: salmon.version + 1 }] },
  ]);
  const told = await events.next();
  const moved = told.find(({ data, type }) => type === 'item.updated' && data.external_id === 'S');
  t.strictSame(moved?.['previous'], { category_id: nigiri.category_id });
  const gone = told.find(({ type }) => type === 'category.deleted');
  t.match(gone, { data: nigiri, previous: null });
  t.equal(told.filter(({ type }) => type === 'item.deleted').length, 1, 'what has moved is not deleted');
});

t.test('the display order becomes that of the document, with as few changes as that takes', async (t) => {
  const { path, menu, exported, stored, events } = await makeSushiMenu();
  const order = async () => {
    const { categories } = await stored();
    return categories.map(
      ({ external_id, items }: { external_id: string; items: { external_id: string }[] }) =>
        external_id + items.map((item) => item.external_id).join(''),
    );
  };
  const document = await exported();
  const [nigiri, rolls] = document.data.categories;
  const [s, tuna, e] = nigiri.items;
  nigiri.items = [e, tuna, s];
  document.data.categories = [rolls, nigiri];
  await api.put(path, document);
  t.strictSame(await order(), ['RA', 'NETS']);
  t.equal((await events.next()).length, 3, 'what need not move stays where it is');

  await api.put(`/menus/${menu.menu_id}/items/${(await stored()).categories[1].items[2].item_id}`, {
    sort_order: 2_147_483_647,
  });
  nigiri.items = [e, s, tuna];
  await api.put(path, document);
  t.strictSame(await order(), ['RA', 'NEST'], 'also where there is no higher position');
});

t.test('what is absent keeps its value: a kitchen that has run out stays out', async (t) => {
  const { path, menu, salmon, tuna, exported, stored, events } = await makeSushiMenu();
  const document = await exported();
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const at = (item: { item_id: number }) => `/menus/${menu.menu_id}/items/${item.item_id}`;
  await api.post(`${at(salmon)}/toggle`);
  await api.put(at(tuna), { unavailable_until: until });
  await api.post(`/menus/${menu.menu_id}/toggle`);
  await events.next();

  document.data.categories[0].items[0].price = 4.9;
  document.data.categories[0].items[1].price = 5.9;
  t.equal((await api.put(path, document)).status, 200);
  const after = await stored();
  t.equal(after.is_active, false);
  const [newSalmon, newTuna] = after.categories[0].items;
  t.match(newSalmon, { price: 4.9, is_available: false, unavailable_until: null });
  t.match(newTuna, { price: 5.9, is_available: false, unavailable_until: until });
  t.strictSame(await events.nextTypes(), ['item.updated', 'item.updated']);

  const bare = { data: { categories: [{ external_id: 'N', items: [{ external_id: 'S' }] }] } };
  const sparse = await api.put(path, bare);
  t.match(sparse.body.data, { menu: null, categories: { updated: [] }, items: { updated: [] } });
  t.match((await stored()).categories, [{ name: 'Nigiri', items: [newSalmon] }]);
});

t.test('availability in the document is set, with its time of return', async (t) => {
  const { path, exported, stored, events } = await makeSushiMenu();
  const document = await exported();
  const [salmon, tuna, eel] = document.data.categories[0].items;
  const until = '2099-01-01T05:00:00.0005+02:00';
  salmon.is_available = false;
  tuna.unavailable_until = until;
  await api.put(path, document);
  const exact = '2099-01-01T03:00:00.000Z';
  const items = async () => (await stored()).categories[0].items;
  t.match(await items(), [
    { is_available: false, unavailable_until: null },
    { is_available: false, unavailable_until: exact },
    { is_available: true },
  ]);
  t.strictSame(await events.nextTypes(), ['item.toggled', 'item.toggled']);
  t.match(
    (await api.put(path, document)).body.data.items,
    nothing,
    'the time is the same however it is written',
  );

  salmon.unavailable_until = until;
  tuna.unavailable_until = null;
  eel.is_available = true;
  await api.put(path, document);
  t.match(await items(), [
    { is_available: false, unavailable_until: exact },
    { is_available: false, unavailable_until: null },
    { is_available: true },
  ]);
  t.strictSame(await events.nextTypes(), ['item.updated', 'item.updated']);
  tuna.is_available = true;
  await api.put(path, document);
  t.strictSame((await items())[1].is_available, true);
  t.match(await events.next(), [{ type: 'item.toggled', previous: { is_available: false } }]);
});

t.test('an item that is due back reads as available, and a change of it records that', async (t) => {
  const { path, menu, salmon, exported, stored, events } = await makeSushiMenu();
  const until = new Date(Date.now() + 150).toISOString();
  await api.put(`/menus/${menu.menu_id}/items/${salmon.item_id}`, { unavailable_until: until });
  await events.next();
  await eventually('the salmon is back', async () => (await stored()).categories[0].items[0].is_available);
  const document = await exported();
  t.match((await api.put(path, document)).body.data.items, nothing);
  t.strictSame(await events.next(), []);
  document.data.categories[0].items[0].price = 9;
  const response = await api.put(path, document);
  t.match(response.body.data.items.updated, [{ old: { price: 4.5 }, new: { price: 9 } }]);
  const previous = { price: 4.5, is_available: false, unavailable_until: until };
  const told = await events.next();
  t.strictSame(
    told.map(({ type, previous }) => ({ type, previous })).toSorted((a, b) => (a.type < b.type ? -1 : 1)),
    [
      { type: 'item.toggled', previous },
      { type: 'item.updated', previous },
    ],
  );
});

t.test('records without an external_id are identified by their id, and can be given one', async (t) => {
  const { path, menu, events } = await makeSushiMenu();
  const category = await makeCategory(api, menu.menu_id, { name: 'Teas' });
  const tea = await makeItem(api, category, { name: 'Sencha' });
  await events.next();
  const document = (await api.get(path)).body;
  const teas = document.data.categories.find((one: { name: string }) => one.name === 'Teas');
  t.equal(teas.category_id, category.category_id);
  t.equal(teas.items[0].item_id, tea.item_id);
  teas.external_id = 'TEAS';
  teas.items[0].external_id = 'TEA';
  const response = await api.put(path, document);
  t.match(response.body.data.categories.updated, [
    {
      category_id: category.category_id,
      external_id: 'TEAS',
      old: { external_id: null },
      new: { external_id: 'TEAS' },
    },
  ]);
  t.match(response.body.data.items, {
    created: [],
    deleted: [],
    updated: [{ item_id: tea.item_id, external_id: 'TEA' }],
  });
  t.match(
    (await events.next()).map((event) => event['previous']),
    [{ external_id: null }, { external_id: null }],
  );
  t.match(
    (await api.put(path, document)).body.data,
    { categories: nothing, items: nothing },
    'both names may stay',
  );
});

t.test('an external_id passes from a deleted record to another', async (t) => {
  const { path, menu, stored, exported } = await makeSushiMenu();
  const category = await makeCategory(api, menu.menu_id, { name: 'Teas' });
  const tea = await makeItem(api, category, { name: 'Sencha' });
  const document = await exported();
  document.data.categories = [
    {
      category_id: category.category_id,
      external_id: 'N',
      items: [{ item_id: tea.item_id, external_id: 'S' }],
    },
  ];
  t.equal((await api.put(path, document)).status, 200);
  t.match((await stored()).categories, [
    {
      category_id: category.category_id,
      external_id: 'N',
      items: [{ item_id: tea.item_id, external_id: 'S' }],
    },
  ]);
});

t.test('If-Match takes the ETag of the menu, of its export and of a dry run', async (t) => {
  const { path, menu, salmon, exported, stored, events } = await makeSushiMenu();
  const document = await exported();
  document.data.categories[0].items[0].price = 9;
  const tags = async () => [
    (await api.get(`/menus/${menu.menu_id}`)).headers['etag'],
    (await api.get(path)).headers['etag'],
    (await api.get(path, { headers: { accept: 'text/csv' } })).headers['etag'],
    (await api.put(`${path}?dry_run=true`, document)).headers['etag'],
  ];
  const old = await tags();
  await api.post(`/menus/${menu.menu_id}/items/${salmon.item_id}/toggle`);
  const before = await stored();
  await events.next();
  for (const etag of old) {
    for (const query of ['', '?dry_run=true']) {
      const refused = await api.put(path + query, document, { headers: { 'if-match': String(etag) } });
      t.equal(refused.status, 412);
    }
  }
  t.strictSame(await stored(), before);
  t.strictSame(await events.next(), []);
  for (const etag of await tags()) {
    document.data.categories[0].items[0].price += 1;
    const current = (await api.get(`/menus/${menu.menu_id}`)).headers['etag'];
    const tag = String(etag).includes('csv') ? String(current).replace(/"$/, '-csv"') : String(current);
    t.equal((await api.put(path, document, { headers: { 'if-match': tag } })).status, 200);
  }
  t.equal((await api.put(path, document, { headers: { 'if-match': '*' } })).status, 200);
});

t.test('every error in a JSON document is listed with its pointer, and nothing is applied', async (t) => {
  const { path, salmon, stored, events } = await makeSushiMenu();
  const before = await stored();
  const item = { name: 'X', price: 1 };
  const categories = [
    {
      external_id: 'N',
      items: [
        { external_id: 'S', price: 4.999, colour: 'pink' },
        { external_id: 'S', price: 5 },
        { external_id: 'T', price: -1, name: ' ', allergens: ['', 'a', 'a'] },
        { ...item },
        { external_id: 'new' },
        { external_id: 'x', item_id: salmon.item_id + 1_000_000, ...item },
        { external_id: 'other', item_id: salmon.item_id },
        { external_id: 'E', unavailable_until: '2001-01-01T00:00:00Z', is_available: true },
        'text',
        { external_id: 'y', ...item, unavailable_until: 'soon' },
      ],
    },
    { external_id: 'N', items: [] },
    { name: 'None', items: [] },
    { external_id: 'unnamed', items: [] },
    { category_id: 999_999_999, items: [] },
    { external_id: 'R' },
  ];
  const response = await api.put(path, { data: { name: '', sort_order: 3, categories } });
  t.equal(response.status, 422);
  const told = response.body.errors.map(
    ({ field, code }: { field: string; code: string }) => `${field} ${code}`,
  );
  const items = '/data/categories/0/items';
  t.strictSame(
    told.toSorted(),
    [
      '/data/name too_short',
      '/data/name characters',
      '/data/sort_order unknown',
      `${items}/0/price precision`,
      `${items}/0/colour unknown`,
      `${items}/1/external_id duplicate`,
      `${items}/2/price too_small`,
      `${items}/2/name characters`,
      `${items}/2/allergens/0 too_short`,
      `${items}/2/allergens/0 characters`,
      `${items}/2/allergens duplicate`,
      `${items}/3/external_id required`,
      `${items}/4/name required`,
      `${items}/4/price required`,
      `${items}/5/item_id not_found`,
      `${items}/6/item_id duplicate`,
      `${items}/7/unavailable_until conflict`,
      `${items}/7/unavailable_until past`,
      `${items}/8 type`,
      `${items}/9/unavailable_until format`,
      `${items}/9/unavailable_until characters`,
      '/data/categories/1/external_id duplicate',
      '/data/categories/2/external_id required',
      '/data/categories/3/name required',
      '/data/categories/4/category_id not_found',
      '/data/categories/5/items required',
    ].toSorted(),
  );
  t.strictSame(await stored(), before);
  t.strictSame(await events.next(), []);
});

t.test('a document that names a record of the menu wrongly is refused', async (t) => {
  const { path, salmon, tuna, stored } = await makeSushiMenu();
  const other = await makeItem(api, { ...salmon }, { name: 'Nameless' });
  const foreign = (await api.get('/menus/1/items?limit=1')).body.data[0];
  const before = await stored();
  const faultsOf = async (...items: object[]) => {
    const categories = [{ external_id: 'N', items }];
    const response = await api.put(path, { data: { categories } });
    t.equal(response.status, 422);
    return response.body.errors.map(({ field, code }: { field: string; code: string }) => [field, code]);
  };
  const items = '/data/categories/0/items';
  t.strictSame(await faultsOf({ item_id: salmon.item_id, external_id: 'Z' }), [
    [`${items}/0/external_id`, 'conflict'],
  ]);
  t.strictSame(await faultsOf({ item_id: foreign.item_id }), [[`${items}/0/item_id`, 'not_found']]);
  t.strictSame(await faultsOf({ item_id: salmon.item_id }, { external_id: 'S' }), [
    [`${items}/1/external_id`, 'duplicate'],
  ]);
  t.strictSame(await faultsOf({ item_id: other.item_id, external_id: 'T' }, { item_id: tuna.item_id }), [
    [`${items}/1/item_id`, 'duplicate'],
  ]);
  t.strictSame(await stored(), before);
});
