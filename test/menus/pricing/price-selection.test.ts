import t from 'tap';
import { checksumOf } from '../../support/checksum.ts';
import { followEvents } from '../../support/events.ts';
import { longestSlices } from '../../support/longest-slices.ts';
import { makeCategory, makeItem, makeMenu } from '../../support/records.ts';
import { startTestService } from '../../support/service.ts';
import { makePricedWorld, type Resource, select, told, useOf } from './priced-world.ts';

const service = await startTestService(t);
const { api, database } = service;

t.test('an item by itself costs its price, as often as it is ordered', async (t) => {
  const { price, menu, item } = await makePricedWorld(api);
  const one = await price({});
  t.same(one, {
    menu_id: menu.menu_id,
    item_id: item.item_id,
    at: one.at,
    is_orderable: true,
    reasons: [],
    problems: [],
    currency: 'EUR',
    quantity: 1,
    item_price: 4.5,
    unit_price: 4.5,
    total_price: 4.5,
    lines: [],
  });
  t.ok(Math.abs(Date.parse(one.at) - Date.now()) < 60_000, 'it is about now');
  t.match(await price({ quantity: 1000, selections: [] }), {
    quantity: 1000,
    unit_price: 4.5,
    total_price: 4500,
  });
});

t.test('each selection has a line, and a quantity is for one of what it is selected for', async (t) => {
  const { price, group, offer, offerWithin } = await makePricedWorld(api);
  const burgers = await group([5, 6.25]);
  const cheese = await group([0.8]);
  await offer([burgers]);
  await offerWithin(burgers.modifiers[0], [cheese]);
  const priced = await price({
    quantity: 3,
    selections: [select(burgers, 1), select(burgers, 0, 2, [select(cheese, 0, 2)])],
  });
  const line = (of: Resource, place: number) => ({
    modifier_id: of.modifiers[place].modifier_id,
    modifier_group_id: of.modifier_group_id,
    name: `Modifier ${place}`,
    free_quantity: 0,
  });
  t.same(priced.lines, [
    { pointer: '/selections/0', ...line(burgers, 1), quantity: 1, price: 6.25, total_price: 6.25 },
    { pointer: '/selections/1', ...line(burgers, 0), quantity: 2, price: 5, total_price: 10 },
    { pointer: '/selections/1/selections/0', ...line(cheese, 0), quantity: 2, price: 0.8, total_price: 3.2 },
  ]);
  t.match(priced, { is_orderable: true, item_price: 4.5, unit_price: 23.95, total_price: 71.85 });
});

t.test(
  'the cheapest selections of a group are free, whatever their order, but not those within them',
  async (t) => {
    const { price, group, offer, offerWithin } = await makePricedWorld(api);
    const toppings = await group([2, 0, 1, 1], { free_selections: 3 });
    const dips = await group([0.5]);
    await offer([toppings]);
    await offerWithin(toppings.modifiers[2], [dips]);
    const priced = await price({
      selections: [
        select(toppings, 0, 2),
        select(toppings, 2, 2, [select(dips, 0)]),
        select(toppings, 3, 1),
        select(toppings, 1, 1),
      ],
    });
    const free = priced.lines.map(({ free_quantity, total_price }: Resource) => [free_quantity, total_price]);
    t.same(free, [
      [0, 4],
      [2, 0],
      [0, 1],
      [0, 1],
      [1, 0],
    ]);
    t.equal(priced.unit_price, 10.5);
    const fewer = await price({ selections: [select(toppings, 0)] });
    t.match(
      fewer.lines,
      [{ free_quantity: 1, price: 2, total_price: 0 }],
      'one that is selected alone is free',
    );
  },
);

t.test('selections that are free in a group are free each time that the group is offered', async (t) => {
  const { price, group, offer, offerWithin } = await makePricedWorld(api);
  const pizzas = await group([8, 9]);
  const toppings = await group([1], { free_selections: 1 });
  await offer([pizzas, toppings]);
  for (const pizza of pizzas.modifiers) await offerWithin(pizza, [toppings]);
  const two = [select(toppings, 0, 2)];
  const priced = await price({ selections: [...two, select(pizzas, 0, 2, two), select(pizzas, 1, 1, two)] });
  t.match(
    priced.lines.map(({ total_price }: Resource) => total_price),
    [1, 16, 2, 9, 1],
  );
});

t.test('the limits of a use override those of its group, and null keeps those', async (t) => {
  const { price, group, offer } = await makePricedWorld(api);
  const sizes = await group([0, 1, 2], { min_selections: 1, max_selections: 1 });
  const pair = [select(sizes, 0), select(sizes, 1)];
  await offer([sizes]);
  t.same(told(await price({})), ['/selections too_few']);
  t.same(told(await price({ selections: pair })), ['/selections too_many']);
  await offer([useOf(sizes, { min_selections: 0 })]);
  t.same(told(await price({})), []);
  t.same(told(await price({ selections: pair })), ['/selections too_many']);
  await offer([useOf(sizes, { min_selections: 2, max_selections: 3 })]);
  t.same(told(await price({ selections: pair })), []);
  t.match((await price({ selections: [select(sizes, 0)] })).problems, [
    {
      pointer: '/selections',
      code: 'too_few',
      message: 'needs at least 2 selections in this group, and has 1',
      modifier_group_id: sizes.modifier_group_id,
      limit: 2,
    },
  ]);
});

t.test('a group without a limit accepts any number: null means no limit, not none', async (t) => {
  const { price, group, offer } = await makePricedWorld(api);
  const toppings = await group([1], { max_selections: null, max_per_modifier: 1000 });
  await offer([toppings]);
  t.match(await price({ selections: [select(toppings, 0, 1000)] }), {
    is_orderable: true,
    unit_price: 1004.5,
  });
});

t.test('rules within a modifier apply to each one of it, even if nothing is selected within', async (t) => {
  const { price, group, offer, offerWithin } = await makePricedWorld(api);
  const mains = await group([5]);
  const sides = await group([1, 2], { min_selections: 1, max_selections: 2 });
  await offer([mains]);
  await offerWithin(mains.modifiers[0], [sides]);
  t.same(told(await price({ selections: [select(mains, 0, 3)] })), ['/selections/0/selections too_few']);
  const each = [select(sides, 0), select(sides, 1)];
  t.match(await price({ selections: [select(mains, 0, 3, each)] }), { problems: [], unit_price: 28.5 });
  t.same(told(await price({})), [], 'what is not selected demands nothing');
});

t.test('a modifier is selected as often as its group permits, in one selection or in several', async (t) => {
  const { price, group, offer, offerWithin } = await makePricedWorld(api);
  const pizzas = await group([8, 9], { max_per_modifier: 2 });
  const toppings = await group([1, 2]);
  await offer([pizzas]);
  await offerWithin(pizzas.modifiers[0], [toppings]);
  const halves = [
    select(pizzas, 0, 1, [select(toppings, 0)]),
    select(pizzas, 1),
    select(pizzas, 0, 1, [select(toppings, 1)]),
  ];
  t.match(await price({ selections: halves }), { is_orderable: true, unit_price: 32.5 });
  const { problems, unit_price } = await price({
    selections: [...halves, select(pizzas, 0), select(pizzas, 0)],
  });
  t.same(problems, [
    {
      pointer: '/selections/3',
      code: 'too_many_of_modifier',
      message: 'can be selected 2 times, and is selected 4 times',
      modifier_group_id: pizzas.modifier_group_id,
      limit: 2,
    },
  ]);
  t.equal(unit_price, 48.5, 'and the price is that of all');
});

t.test(
  'a modifier that is not offered where it is selected has no line, and what is within it is ignored',
  async (t) => {
    const { price, group, offer, offerWithin } = await makePricedWorld(api);
    const [mains, sides, others] = [await group([5]), await group([1]), await group([3])];
    await offer([mains]);
    await offerWithin(mains.modifiers[0], [sides]);
    const elsewhere = await makePricedWorld(api);
    const foreign = await elsewhere.group([7]);
    const stranger = await service.client({ account: 'Another restaurant group' });
    const strange = await (await makePricedWorld(stranger)).group([7]);
    const priced = await price({
      selections: [
        select(sides, 0),
        select(others, 0, 1, [select(sides, 0)]),
        select(foreign, 0),
        select(strange, 0),
        { modifier_id: 9007199254740991 },
        select(mains, 0, 1, [select(mains, 0), select(sides, 0)]),
      ],
    });
    t.same(told(priced), [
      ...[0, 1, 2, 3, 4].map((place) => `/selections/${place} not_in_group`),
      '/selections/5/selections/0 not_in_group',
    ]);
    t.match(priced.problems[0], { message: 'is not a modifier of a group that is offered here' });
    t.same(
      priced.lines.map(({ pointer }: Resource) => pointer),
      ['/selections/5', '/selections/5/selections/1'],
    );
    t.match(priced, { is_orderable: false, unit_price: 10.5 });
  },
);

t.test('a modifier that is off is reported with its return, and is on from then on', async (t) => {
  const { price, group, offer, modifierPath } = await makePricedWorld(api);
  const toppings = await group([1, 2]);
  await offer([toppings]);
  const [first, second] = toppings.modifiers;
  const until = new Date(Date.now() + 3_600_000).toISOString();
  await api.put(modifierPath(first), { unavailable_until: until });
  await api.post(`${modifierPath(second)}/toggle`);
  const selections = [select(toppings, 0), select(toppings, 1)];
  const now = await price({ selections });
  const off = { code: 'off', message: 'is not available', modifier_group_id: toppings.modifier_group_id };
  t.same(now.problems, [
    { pointer: '/selections/0', ...off, unavailable_until: until },
    { pointer: '/selections/1', ...off, unavailable_until: null },
  ]);
  t.match(now, { is_orderable: false, unit_price: 7.5 });
  t.same(told(await price({ selections, at: until })), ['/selections/1 off']);
  await api.post(`${modifierPath(second)}/toggle`);
  t.same(told(await price({ selections, at: until })), []);
});

t.test(
  'a modifier that stands for an item is off while the item is off, on any menu, and once it is deleted',
  async (t) => {
    const { price, group, offer, location, modifierPath } = await makePricedWorld(api);
    const drinks = await makeMenu(api, location.location_id, { name: 'Drinks' });
    const cola = await makeItem(api, await makeCategory(api, drinks.menu_id), { name: 'Cola' });
    const colaPath = `/menus/${drinks.menu_id}/items/${cola.item_id}`;
    const choice = await group([], { modifiers: [{ name: 'Cola', price: 2, item_id: cola.item_id }] });
    await offer([choice]);
    const problems = async (at?: string) =>
      (await price({ selections: [select(choice, 0)], ...(at && { at }) })).problems;
    t.same(await problems(), []);
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const later = new Date(Date.now() + 7_200_000).toISOString();
    await api.put(colaPath, { unavailable_until: until });
    t.match(await problems(), [{ pointer: '/selections/0', code: 'off', unavailable_until: until }]);
    t.same(await problems(until), []);
    await api.put(modifierPath(choice.modifiers[0]), { unavailable_until: later });
    t.match(await problems(), [{ code: 'off', unavailable_until: later }], 'both must be back');
    t.match(await problems(until), [{ code: 'off', unavailable_until: later }]);
    await api.post(`${modifierPath(choice.modifiers[0])}/toggle`);
    await api.post(`${colaPath}/toggle`);
    t.same(await problems(), []);
    await api.delete(colaPath);
    t.match(await problems(later), [{ code: 'off', unavailable_until: null }]);
  },
);

t.test('every reason against the item is reported as getAvailability reports it', async (t) => {
  const never = { weekly: [] };
  const { price, location, menu, category, item, itemPath } = await makePricedWorld(api, {
    location: { hours: never },
    item: { hours: never },
  });
  await api.put(`/menus/${menu.menu_id}`, { hours: never, is_active: false });
  await api.put(`/menus/${menu.menu_id}/categories/${category.category_id}`, { hours: never });
  await api.post(`${itemPath}/toggle`);
  const { body } = await api.get(`/menus/${menu.menu_id}/availability`);
  const [{ reasons }] = body.data.items;
  t.ok(location && item && reasons.length === 6);
  const priced = await price({ quantity: 2 });
  t.same(priced.reasons, reasons);
  t.match(priced, { is_orderable: false, problems: [], total_price: 9 });
});

t.test('a required selection that is off is a problem of the selections, not of the item', async (t) => {
  const { price, group, offer, menu, modifierPath } = await makePricedWorld(api);
  const toppings = await group([1], { min_selections: 1 });
  await offer([toppings]);
  const [modifier] = toppings.modifiers;
  await api.post(`${modifierPath(modifier)}/toggle`);
  const { body } = await api.get(`/menus/${menu.menu_id}/availability`);
  t.match(body.data.items, [{ is_orderable: false, reasons: [{ code: 'required_modifiers_off' }] }]);
  t.match(await price({}), { is_orderable: false, reasons: [], problems: [{ code: 'too_few' }] });
  const selections = [{ modifier_id: modifier.modifier_id }];
  t.match(await price({ selections }), { is_orderable: false, reasons: [], problems: [{ code: 'off' }] });
});

t.test(
  'the price is for the moment requested, with an offset or in the local time of the location',
  async (t) => {
    const lunch = { weekly: [{ days: ['mon'], from: '12:00', minutes: 120 }] };
    const { price, itemPath } = await makePricedWorld(api, {
      location: { timezone: 'Europe/Berlin' },
      item: { hours: lunch },
    });
    for (const [at, instant, codes] of [
      ['2026-06-15T12:00', '2026-06-15T10:00:00.000Z', []],
      ['2026-06-15T12:00:00Z', '2026-06-15T12:00:00.000Z', ['item_hours']],
      ['2026-06-15T13:59:59+02:00', '2026-06-15T11:59:59.000Z', []],
      ['2026-06-15T14:00:00', '2026-06-15T12:00:00.000Z', ['item_hours']],
      ['2026-06-16T12:00', '2026-06-16T10:00:00.000Z', ['item_hours']],
    ] as const) {
      const priced = await price({ at });
      t.equal(priced.at, instant, at);
      t.same(
        priced.reasons.map(({ code }: Resource) => code),
        codes,
        at,
      );
      t.equal(priced.is_orderable, codes.length === 0);
    }
    for (const at of [
      'now',
      '2026-06-15',
      '2026-02-30T12:00',
      '1999-06-15T12:00',
      '2026-06-15T25:00',
      '',
      'x\0',
    ])
      t.match(
        await api.post(`${itemPath}/price`, { at }),
        { status: 422, body: { errors: [{ field: '/at' }] } },
        at,
      );
  },
);

t.test('prices have the decimal places of the currency, and are exact', async (t) => {
  const table = {
    JPY: { prices: [480, 120, 0], unit: '720', total: '2160', line: '120' },
    EUR: { prices: [4.5, 0.1, 0.2], unit: '4.90', total: '14.70', line: '0.10' },
    KWD: { prices: [1.25, 0.001, 0.01], unit: '1.262', total: '3.786', line: '0.001' },
  }; // biome-ignore format: a table
  for (const [currency, { prices, unit, total, line }] of Object.entries(table)) {
    const [own = 0, ...others] = prices;
    const { priceText, group, offer } = await makePricedWorld(api, {
      location: { currency },
      item: { price: own },
    });
    const extras = await group(others);
    await offer([extras]);
    const text = await priceText({ quantity: 3, selections: [select(extras, 0, 2), select(extras, 1)] });
    t.match(text, `"currency":"${currency}","quantity":3,`);
    t.match(text, `"unit_price":${unit},"total_price":${total},`);
    t.match(text, `"price":${line},`);
  }
});

t.test('a price from before its currency limited decimals is not rounded', async (t) => {
  const { priceText, item } = await makePricedWorld(api, {
    location: { currency: 'JPY' },
    item: { price: 4 },
  });
  await database.updateTable('item').set({ price: '4.50' }).where('item_id', '=', item.item_id).execute();
  t.match(await priceText({ quantity: 3 }), '"item_price":4.5,"unit_price":4.5,"total_price":13.5,');
});

t.test('the largest amounts are exact, and anything beyond them is refused', async (t) => {
  const { pricePath, priceText, group, offer } = await makePricedWorld(api, {
    location: { currency: 'KWD' },
    item: { price: 999999999.999 },
  });
  const extras = await group([999999999.999, 0.001], { max_per_modifier: 1000 });
  await offer([extras]);
  t.match(await priceText({ quantity: 1000 }), '"unit_price":999999999.999,"total_price":999999999999.000,');
  const within = { selections: [select(extras, 0, 999), select(extras, 1, 999)] };
  t.match(await priceText(within), '"unit_price":999999999999.999,"total_price":999999999999.999,');
  const refused = (field: string) => ({
    status: 422,
    body: {
      code: 'parameter_error',
      errors: [{ field, code: 'too_large', message: 'the price is beyond 999,999,999,999.999' }],
    },
  });
  const beyond = { selections: [select(extras, 0, 999), select(extras, 1, 1000)] };
  t.match(await api.post(pricePath, beyond), refused('/selections'));
  t.match(await api.post(pricePath, { ...within, quantity: 2 }), refused('/quantity'));
  const many = { selections: Array.from({ length: 200 }, () => select(extras, 0, 1000)) };
  t.match(await api.post(pricePath, many), refused('/selections'));
});

t.test('six levels are priced, and one below them is too deep', async (t) => {
  const { price, group, offer, offerWithin } = await makePricedWorld(api, { item: { price: 0 } });
  const groups: Resource[] = [];
  for (let level = 0; level < 6; level += 1) groups.push(await group([1]));
  await offer([groups[0]]);
  for (let level = 0; level < 5; level += 1)
    await offerWithin(groups[level].modifiers[0], [groups[level + 1]]);
  const nested = (quantity: number, below: object[] = []) =>
    groups.reduceRight((within: object[], one) => [select(one, 0, quantity, within)], below);
  t.match(await price({ selections: nested(1) }), { is_orderable: true, unit_price: 6 });
  t.match(await price({ selections: nested(2) }), { is_orderable: true, unit_price: 126 });
  const below = [{ modifier_id: 1, selections: [{ modifier_id: 2 }] }, { modifier_id: 1 }];
  const { problems, unit_price } = await price({ selections: nested(1, below) });
  t.same(problems, [
    {
      pointer: `${'/selections/0'.repeat(6)}/selections`,
      code: 'too_deep',
      message: 'lies deeper than 6 levels',
    },
  ]);
  t.equal(unit_price, 6);
});

t.test('all problems are reported at once, each at its place', async (t) => {
  const { price, group, offer, offerWithin, modifierPath, itemPath } = await makePricedWorld(api);
  const sizes = await group([0, 1], { min_selections: 1, max_selections: 1, max_per_modifier: 1 });
  const toppings = await group([1, 1], { max_selections: 2, max_per_modifier: 1 });
  const sauces = await group([0.5], { min_selections: 1 });
  await offer([sizes, toppings]);
  await offerWithin(toppings.modifiers[0], [sauces]);
  await api.post(`${modifierPath(toppings.modifiers[0])}/toggle`);
  await api.post(`${itemPath}/toggle`);
  const priced = await price({
    selections: [select(toppings, 0, 2), select(toppings, 1), { modifier_id: 9007199254740991 }],
  });
  t.same(told(priced), [
    '/selections too_few',
    '/selections too_many',
    '/selections/0 too_many_of_modifier',
    '/selections/0 off',
    '/selections/0/selections too_few',
    '/selections/2 not_in_group',
  ]);
  t.match(priced.reasons, [{ code: 'item_off' }]);
  t.match(priced, { is_orderable: false, unit_price: 7.5 });
});

t.test(
  'what an app offers first is not added: a default that the body leaves out is not selected',
  async (t) => {
    const { price, group, offer } = await makePricedWorld(api);
    const sizes = await group([], {
      min_selections: 1,
      modifiers: [{ name: 'Medium', price: 1, default_quantity: 1 }],
    });
    await offer([sizes]);
    t.same(told(await price({})), ['/selections too_few']);
    t.match(await price({ selections: [select(sizes, 0)] }), { is_orderable: true, unit_price: 5.5 });
  },
);

t.test('a change of a group, a modifier or an item shows in the next price', async (t) => {
  const { price, group, offer, modifierPath, itemPath, location } = await makePricedWorld(api);
  const toppings = await group([1, 2]);
  await offer([toppings]);
  const selections = [select(toppings, 0), select(toppings, 1)];
  const unit = async () => (await price({ selections })).unit_price;
  t.equal(await unit(), 7.5);
  await api.put(modifierPath(toppings.modifiers[0]), { price: 1.1 });
  t.equal(await unit(), 7.6);
  await api.put(`/locations/${location.location_id}/modifier-groups/${toppings.modifier_group_id}`, {
    free_selections: 1,
  });
  t.equal(await unit(), 6.5);
  await api.put(itemPath, { price: 10 });
  t.equal(await unit(), 12);
  await api.delete(modifierPath(toppings.modifiers[1]));
  t.same(told(await price({ selections })), ['/selections/1 not_in_group']);
  await offer([]);
  t.same(told(await price({ selections })), ['/selections/0 not_in_group', '/selections/1 not_in_group']);
});

t.test('concurrent calls each get their own price', async (t) => {
  const worlds = await Promise.all(
    [1, 2, 3].map(async (price) => {
      const world = await makePricedWorld(api, { item: { price } });
      const extras = await world.group([price / 10]);
      await world.offer([extras]);
      return { ...world, extras, own: price };
    }),
  );
  const priced = await Promise.all(
    Array.from({ length: 90 }, async (_, n) => {
      const { price, extras, own, menu } = worlds[n % 3] as (typeof worlds)[0];
      const others = worlds[(n + 1) % 3] as (typeof worlds)[0];
      const selections = [select(extras, 0, (n % 5) + 1), select(others.extras, 0)];
      return { own, n, menu, priced: await price({ selections }) };
    }),
  );
  for (const { own, n, menu, priced: one } of priced) {
    t.equal(one.menu_id, menu.menu_id);
    t.equal(one.unit_price, Number((own + (own / 10) * ((n % 5) + 1)).toFixed(2)));
    t.same(told(one), ['/selections/1 not_in_group']);
  }
  const [one, two] = worlds as [(typeof worlds)[0], (typeof worlds)[0]];
  const mixed = await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      api.post(n % 2 ? `/menus/${one.menu.menu_id}/items/${two.item.item_id}/price` : one.pricePath, {}),
    ),
  );
  t.same(
    mixed.map(({ status }) => status),
    mixed.map((_, n) => (n % 2 ? 404 : 200)),
    'an item of another menu is not there',
  );
});

t.test('it only reads: it needs menus:read, writes nothing, and stores no response for a key', async (t) => {
  const { pricePath, itemPath, group, offer } = await makePricedWorld(api);
  const extras = await group([1]);
  await offer([extras]);
  const { account_id } = api.credentials;
  const reader = await service.client({ scopes: ['menus:read'] });
  const events = await followEvents(database);
  const before = await checksumOf(database, account_id);
  const headers = { 'idempotency-key': 'the same' };
  const body = { selections: [select(extras, 0)] };
  const [first, other] = [
    await reader.post(pricePath, body, { headers }),
    await reader.post(pricePath, { quantity: 2 }, { headers }),
  ];
  t.match(first, { status: 200, body: { data: { unit_price: 5.5 } } });
  t.match(other, { status: 200, body: { data: { total_price: 9 } } }, 'a key has no meaning here');
  t.notOk('idempotency-replayed' in other.headers);
  t.same(await events.next(), []);
  t.strictSame(await checksumOf(database, account_id), before);
  for (const scopes of [['availability:write'], ['webhooks:manage']] as const) {
    const without = await service.client({ scopes: [...scopes] });
    t.match(await without.post(pricePath, {}), { status: 403, body: { code: 'insufficient_scope' } });
  }
  t.equal((await (await service.client({ scopes: ['menus:write'] })).post(pricePath, {})).status, 200);
  t.equal((await reader.post(`${itemPath}/toggle`)).status, 403);
});

t.test(
  'an item of another account or location gets 403, and one that does not exist on the menu 404',
  async (t) => {
    const own = await makePricedWorld(api);
    const other = await makePricedWorld(api);
    const narrow = await service.client({ locations: [own.location.location_id] });
    t.equal((await narrow.post(own.pricePath, {})).status, 200);
    t.match(await narrow.post(other.pricePath, {}), { status: 403, body: { code: 'forbidden' } });
    const stranger = await service.client({ account: 'Another restaurant group' });
    t.equal((await stranger.post(own.pricePath, {})).status, 403);
    for (const path of [
      `/menus/${own.menu.menu_id}/items/${other.item.item_id}/price`,
      `/menus/${other.menu.menu_id}/items/${own.item.item_id}/price`,
      `/menus/${own.menu.menu_id}/items/9007199254740991/price`,
      `/menus/0/items/${own.item.item_id}/price`,
    ])
      t.match(await api.post(path, {}), { status: 404, body: { code: 'not_found' } }, path);
  },
);

t.test('an invalid body is refused with all its errors', async (t) => {
  const { pricePath } = await makePricedWorld(api);
  const errors = async (body: unknown) => {
    const response = await api.post(pricePath, undefined, {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
    t.equal(response.status, 422, JSON.stringify(body).slice(0, 200));
    return response.body.errors.map(({ field, code }: Resource) => `${field} ${code}`);
  };
  t.same(await errors([]), [' type']);
  t.same(await errors(null), [' type']);
  t.same(await errors({ quantity: 0, selections: null, at: 1, price: 1 }), [
    '/price unknown',
    '/quantity too_small',
    '/selections type',
    '/at type',
  ]);
  t.same(await errors({ quantity: 1001 }), ['/quantity too_large']);
  t.same(await errors({ quantity: 1.5 }), ['/quantity type', '/quantity format']);
  t.same(await errors({ quantity: '1' }), ['/quantity type']);
  t.same(
    await errors({
      selections: [
        {},
        { modifier_id: 0, quantity: 0, name: 'x' },
        { modifier_id: 1, selections: [{ modifier_id: 'x', selections: [[], { quantity: null }] }] },
      ],
    }),
    [
      '/selections/0/modifier_id required',
      '/selections/1/name unknown',
      '/selections/1/modifier_id too_small',
      '/selections/1/quantity too_small',
      '/selections/2/selections/0/modifier_id type',
      '/selections/2/selections/0/selections/0 type',
      '/selections/2/selections/0/selections/1/modifier_id required',
      '/selections/2/selections/0/selections/1/quantity type',
    ],
  );
  const list = (length: number, one: object = { modifier_id: 1 }) => Array.from({ length }, () => one);
  t.same(await errors({ selections: list(201) }), ['/selections too_many']);
  const twice = { modifier_id: 1, selections: list(10) };
  t.same(
    await errors({ selections: list(19, twice) }),
    ['/selections too_many'],
    'those within count as well',
  );
  t.equal((await api.post(pricePath, { selections: list(200) })).status, 200);
  t.equal((await api.post(pricePath, { selections: list(18, twice) })).status, 200);
  const deep = (levels: number): object[] =>
    levels === 0 ? [] : [{ modifier_id: 1, selections: deep(levels - 1) }];
  t.same(await errors({ selections: deep(40) }), [' too_deep'], 'more levels than any body has');
  t.equal((await api.post(pricePath, { selections: deep(14) })).status, 200);
});

t.test('nested selections, as many as a body can contain, keep no other request waiting', async (t) => {
  const { pricePath } = await makePricedWorld(api);
  const nested = (widths: number[], innermost: string): string => {
    const [width = 0, ...others] = widths;
    if (width === 0) return innermost;
    return `{"modifier_id":1,"selections":[${Array(width).fill(nested(others, innermost)).join()}]}`;
  };
  const slices = longestSlices(t);
  for (const [widths, innermost, code] of [
    [[180, 180], '{"modifier_id":1}', 'too_many'],
    [Array(13).fill(2), '{"modifier_id":1}', 'too_many'],
    [[200, 200], '{"x":1}', 'required'],
    [Array(13).fill(2), '{}', 'required'],
  ] as const) {
    const body = `{"selections":[${nested([...widths], innermost)}]}`;
    const send = async () => {
      slices.takeLongest();
      const response = await api.post(pricePath, undefined, {
        body,
        headers: { 'content-type': 'application/json' },
      });
      t.match(response, { status: 422, body: { errors: [{ code }] } });
      return slices.takeLongest();
    };
    // What a body costs it costs each time; a collection of garbage comes now and then.
    const waits = [await send(), await send(), await send()];
    t.ok(Math.min(...waits) < 50, `${body.length} bytes: ${waits.map((one) => one.toFixed(0))} ms`);
  }
});
