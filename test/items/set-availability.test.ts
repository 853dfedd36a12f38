import { sql } from 'kysely';
import t from 'tap';
import { followEvents } from '../support/events.ts';
import { makeCategory, makeItem, makeMenu, makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString();

t.test('setAvailability', async (t) => {
  const { api, database, client } = await startTestService(t);
  const { location, menu, category, item: salmon } = await makeTree(api);
  const [tuna, eel, octopus] = await Promise.all([
    makeItem(api, category, { name: 'Tuna', external_id: 'TUNA' }),
    makeItem(api, category, { name: 'Eel', external_id: 'EEL' }),
    makeItem(api, category, { name: 'Octopus', external_id: 'OCTOPUS' }),
  ]);
  const path = `/menus/${menu.menu_id}/availability`;
  const log = await followEvents(database);
  const set = (...items: object[]) => api.post(path, { items });
  const read = async ({ item_id }: { item_id: number }) =>
    (await api.get(`/menus/${menu.menu_id}/items/${item_id}`)).body.data;

  t.test(
    'answers each row in the order of the request, and takes effect for those that are there',
    async (t) => {
      const until = tomorrow();
      const response = await set(
        { external_id: 'TUNA', is_available: false, unavailable_until: until },
        { item_id: 9_000_000, is_available: false },
        { item_id: salmon.item_id, is_available: false },
        { external_id: 'NO-SUCH', is_available: true },
        { item_id: eel.item_id, is_available: true },
      );
      t.equal(response.status, 200);
      t.match(response.body.data, [
        { item_id: tuna.item_id, external_id: 'TUNA', result: 'changed' },
        { item_id: 9_000_000, external_id: null, result: 'not_found', item: null },
        { item_id: salmon.item_id, external_id: null, result: 'changed' },
        { item_id: null, external_id: 'NO-SUCH', result: 'not_found', item: null },
        { item_id: eel.item_id, external_id: 'EEL', result: 'unchanged' },
      ]);
      for (const { item } of response.body.data.filter(({ item }: { item: unknown }) => item))
        t.strictSame(item, await read(item));
      t.match(await read(tuna), { is_available: false, unavailable_until: until, version: 2 });
      t.match(await read(salmon), { is_available: false, unavailable_until: null, version: 2 });
      t.strictSame(await read(eel), eel, 'what was as wanted is left alone');

      const events = (await log.next()).sort((a, b) => a['data'].item_id - b['data'].item_id);
      t.strictSame(
        events.map(({ type, data, previous }) => [type, data.item_id, previous]),
        [
          ['item.toggled', salmon.item_id, { is_available: true }],
          ['item.toggled', tuna.item_id, { is_available: true, unavailable_until: null }],
        ],
      );
      t.strictSame(events[1]?.['data'], await read(tuna));
      t.equal(events[0]?.['request_id'], response.headers['x-request-id']);
    },
  );

  t.test('sets and does not flip: a repeat changes nothing and fires nothing', async (t) => {
    const before = await api.get(`/menus/${menu.menu_id}`);
    const response = await set(
      { external_id: 'TUNA', is_available: false },
      { item_id: salmon.item_id, is_available: false, unavailable_until: null },
    );
    t.match(response.body.data, [{ result: 'unchanged' }, { result: 'unchanged' }]);
    t.strictSame(await log.next(), []);
    const after = await api.get(`/menus/${menu.menu_id}`);
    t.equal(after.text, before.text);
    t.equal(after.headers['etag'], before.headers['etag']);
  });

  t.test('a planned return is kept if a row does not mention it, and null cancels it', async (t) => {
    t.not((await read(tuna)).unavailable_until, null);
    t.match((await set({ external_id: 'TUNA', is_available: false, unavailable_until: null })).body.data, [
      { result: 'changed', item: { is_available: false, unavailable_until: null } },
    ]);
    const [event, ...more] = await log.next();
    t.equal(event?.['type'], 'item.updated');
    t.strictSame(Object.keys(event?.['previous']), ['unavailable_until']);
    t.equal(more.length, 0);
  });

  t.test('true cancels it too', async (t) => {
    await set({ external_id: 'TUNA', is_available: false, unavailable_until: tomorrow() });
    const response = await set({ external_id: 'TUNA', is_available: true });
    t.match(response.body.data, [
      { result: 'changed', item: { is_available: true, unavailable_until: null } },
    ]);
    t.strictSame(await log.nextTypes(), ['item.updated', 'item.toggled']);
  });

  t.test('two rows for one item are refused, both named, and nothing is changed', async (t) => {
    const rows = [
      [{ item_id: eel.item_id }, { item_id: eel.item_id }],
      [{ external_id: 'EEL' }, { external_id: 'EEL' }],
      [{ item_id: eel.item_id }, { external_id: 'EEL' }],
    ];
    for (const [first, second] of rows) {
      const response = await set(
        { ...first, is_available: false },
        { item_id: octopus.item_id, is_available: false },
        { ...second, is_available: true },
      );
      t.equal(response.status, 422);
      t.match(response.body.errors, [
        { field: '/items/2', code: 'duplicate', message: 'names the same item as /items/0' },
      ]);
    }
    t.strictSame(await read(eel), eel);
    t.strictSame(await read(octopus), octopus);
    t.strictSame(await log.next(), []);
  });

  t.test('all errors are reported at once', async (t) => {
    const response = await set(
      { is_available: true },
      { item_id: eel.item_id, external_id: 'EEL', is_available: true },
      { item_id: tuna.item_id, is_available: true, unavailable_until: tomorrow() },
      { item_id: octopus.item_id, is_available: false, unavailable_until: '2020-01-01T00:00:00Z' },
    );
    t.equal(response.status, 422);
    t.strictSame(
      response.body.errors.map(({ field, code }: { field: string; code: string }) => [field, code]),
      [
        ['/items/0', 'required'],
        ['/items/1', 'conflict'],
        ['/items/2/unavailable_until', 'conflict'],
        ['/items/3/unavailable_until', 'past'],
      ],
    );
    for (const items of [
      [],
      Array.from({ length: 501 }, (_, place) => ({ item_id: place + 1, is_available: true })),
    ])
      t.equal((await api.post(path, { items })).status, 422);
    const faults = await set(...Array.from({ length: 150 }, () => ({ is_available: true })));
    t.equal(faults.body.errors.length, 100);
    t.match(faults.body.detail, 'The first 100 errors; there are more');
    t.strictSame(await log.next(), []);
  });

  t.test('reaches the items of this menu only', async (t) => {
    const other = await makeMenu(api, location.location_id);
    const elsewhere = await makeItem(api, await makeCategory(api, other.menu_id), { external_id: 'TUNA' });
    await log.next();
    const response = await set(
      { item_id: elsewhere.item_id, is_available: false },
      { external_id: 'TUNA', is_available: false },
    );
    t.match(response.body.data, [{ result: 'not_found' }, { item_id: tuna.item_id, result: 'changed' }]);
    t.strictSame(await log.nextTypes(), ['item.toggled']);
    const row = { item_id: eel.item_id, is_available: false };
    t.equal((await api.post('/menus/9000000/availability', { items: [row] })).status, 404);
    const stranger = await client({ account: 'Elsewhere' });
    t.equal((await stranger.post(path, { items: [row] })).status, 403);
    const elsewhereInTheAccount = await client({ locations: [1] });
    t.equal((await elsewhereInTheAccount.post(path, { items: [row] })).status, 403);
    t.strictSame(await log.next(), []);
  });

  t.test('needs only the scope availability:write', async (t) => {
    const kitchen = await client({ scopes: ['availability:write'] });
    const row = { item_id: octopus.item_id, is_available: false };
    t.match((await kitchen.post(path, { items: [row] })).body.data, [{ result: 'changed' }]);
    const reader = await client({ scopes: ['menus:read'] });
    t.equal((await reader.post(path, { items: [row] })).status, 403);
  });

  t.test('500 rows are one step', async (t) => {
    const many = await makeMenu(api, location.location_id);
    const { category_id } = await makeCategory(api, many.menu_id);
    await sql`
      insert into item (account_id, location_id, menu_id, category_id, name, price, sort_order, external_id)
      select account_id, location_id, menu_id, category_id, 'Dish ' || place, 1, place, 'POS-' || place
      from category, generate_series(1, 500) as place where category_id = ${category_id}`.execute(database);
    await log.next();
    const before = (await api.get(`/menus/${many.menu_id}`)).headers['etag'];
    const items = Array.from({ length: 500 }, (_, place) => ({
      external_id: `POS-${500 - place}`,
      is_available: false,
    }));
    const response = await api.post(`/menus/${many.menu_id}/availability`, { items });
    t.equal(response.status, 200);
    t.strictSame(
      response.body.data.map(({ external_id, result }: { external_id: string; result: string }) => [
        external_id,
        result,
      ]),
      items.map(({ external_id }) => [external_id, 'changed']),
    );
    t.equal((await log.next()).length, 500);
    t.not((await api.get(`/menus/${many.menu_id}`)).headers['etag'], before);
  });
});
