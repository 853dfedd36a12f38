import { sql } from 'kysely';
import t from 'tap';
import { restoreDueItems } from '../../src/items/restore-items.ts';
import { followEvents } from '../support/events.ts';
import { makeCategory, makeItem, makeLocation, makeMenu } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString();

const service = await startTestService(t);
const { api, database, client } = service;

/** A location with so many menus, each of which has the salmon and an item of its own. */
async function locationOf(menus: number) {
  const { location_id } = await makeLocation(api);
  const salmon = [];
  const own = [];
  for (let place = 0; place < menus; place += 1) {
    const { menu_id } = await makeMenu(api, location_id);
    const category = await makeCategory(api, menu_id);
    salmon.push(await makeItem(api, category, { name: 'Salmon', external_id: '🍣-鮭 1' }));
    own.push(await makeItem(api, category, { name: `Own ${place}`, external_id: `OWN-${place}` }));
  }
  return { location_id, salmon, own, path: `/locations/${location_id}/availability` };
}

const read = async ({ item_id }: { item_id: number }) => (await api.get(`/items/${item_id}`)).body.data;
const menuTags = (items: { menu_id: number }[]) =>
  Promise.all(items.map(async ({ menu_id }) => (await api.get(`/menus/${menu_id}`)).headers['etag']));
const results = (body: { data: { item_id: number; external_id: string; result: string }[] }) =>
  body.data.map(({ item_id, external_id, result }) => [item_id, external_id, result]);

t.test('takes the salmon off every menu of the location, with an event and a result for each', async (t) => {
  const { salmon, own, path } = await locationOf(3);
  const elsewhere = await locationOf(1);
  const [first, second, third] = salmon;
  const log = await followEvents(database);
  const [tags, otherTags] = [await menuTags(salmon), await menuTags(elsewhere.salmon)];
  const until = tomorrow();
  const response = await api.post(path, {
    items: [
      { external_id: '🍣-鮭 1', is_available: false, unavailable_until: until },
      { external_id: 'NO-SUCH', is_available: false },
      { item_id: own[1].item_id, is_available: true },
    ],
  });
  t.equal(response.status, 200);
  t.strictSame(results(response.body), [
    [first.item_id, '🍣-鮭 1', 'changed'],
    [second.item_id, '🍣-鮭 1', 'changed'],
    [third.item_id, '🍣-鮭 1', 'changed'],
    [null, 'NO-SUCH', 'not_found'],
    [own[1].item_id, 'OWN-1', 'unchanged'],
  ]);
  for (const { item } of response.body.data.filter(({ item }: { item: unknown }) => item))
    t.strictSame(item, await read(item));
  for (const item of salmon)
    t.match(await read(item), { is_available: false, unavailable_until: until, version: 2 });
  const events = (await log.next()).sort((a, b) => a['data'].item_id - b['data'].item_id);
  t.strictSame(
    events.map(({ type, menu_id, data, previous, request_id }) => [
      ...[type, menu_id, data.item_id],
      ...[previous, request_id],
    ]),
    salmon.map(({ menu_id, item_id }) => [
      ...['item.toggled', menu_id, item_id],
      ...[{ is_available: true, unavailable_until: null }, response.headers['x-request-id']],
    ]),
  );
  const after = await menuTags(salmon);
  for (const [place, tag] of tags.entries()) t.not(after[place], tag, 'every menu has another tag');
  t.strictSame(await menuTags(elsewhere.salmon), otherTags, 'and none of another location');
});

t.test('sets and does not flip: a repeat changes nothing and fires nothing', async (t) => {
  const { salmon, path } = await locationOf(2);
  const body = { items: [{ external_id: '🍣-鮭 1', is_available: false }] };
  await api.post(path, body);
  const log = await followEvents(database);
  const tags = await menuTags(salmon);
  const response = await api.post(path, body);
  t.match(response.body.data, [{ result: 'unchanged' }, { result: 'unchanged' }]);
  t.strictSame(await log.next(), []);
  t.strictSame(await menuTags(salmon), tags);
});

t.test('location_ids includes further locations in the same step', async (t) => {
  const [here, there, other] = [await locationOf(1), await locationOf(2), await locationOf(1)];
  const items = [{ external_id: '🍣-鮭 1', is_available: false }];
  const response = await api.post(here.path, { items, location_ids: [there.location_id, here.location_id] });
  t.strictSame(
    response.body.data.map(({ item }: { item: { item_id: number } }) => item.item_id),
    [...here.salmon, ...there.salmon].map(({ item_id }) => item_id),
  );
  t.match(await read(other.salmon[0]), { is_available: true });
});

t.test('a location that does not exist or is out of reach is named, and nothing is changed', async (t) => {
  const [here, there] = [await locationOf(1), await locationOf(1)];
  const stranger = await client({ account: 'Elsewhere' });
  const foreign = await makeLocation(stranger);
  const log = await followEvents(database);
  const items = [{ external_id: '🍣-鮭 1', is_available: false }];
  const location_ids = [there.location_id, 9_000_000, foreign.location_id];
  const response = await api.post(here.path, { items, location_ids });
  t.match(response, {
    status: 422,
    body: {
      errors: [
        { field: '/location_ids/1', code: 'not_found' },
        { field: '/location_ids/2', code: 'not_found' },
      ],
    },
  });
  const bound = await client({ locations: [here.location_id] });
  const beyond = await bound.post(here.path, { items, location_ids: [there.location_id] });
  t.match(beyond, { status: 422, body: { errors: [{ field: '/location_ids/0', code: 'not_found' }] } });
  for (const body of [{ items }, { items, location_ids: [here.location_id] }]) {
    t.equal((await api.post('/locations/9000000/availability', body)).status, 404);
    t.equal((await stranger.post(here.path, body)).status, 403);
    t.equal((await bound.post(there.path, body)).status, 403);
  }
  t.equal((await stranger.post(here.path, { items, location_ids: [foreign.location_id] })).status, 403);
  t.strictSame(await log.next(), []);
  t.match((await bound.post(here.path, { items })).body.data, [{ result: 'changed' }]);
});

t.test('an item of another location is not found by its id', async (t) => {
  const [here, there] = [await locationOf(1), await locationOf(1)];
  const { item_id } = there.salmon[0];
  const response = await api.post(here.path, { items: [{ item_id, is_available: false }] });
  t.strictSame(results(response.body), [[item_id, null, 'not_found']]);
  t.match(await read(there.salmon[0]), { is_available: true, version: 1 });
});

t.test('two rows for one item are refused, and nothing is changed', async (t) => {
  const { salmon, path } = await locationOf(2);
  const log = await followEvents(database);
  const byExternalId = { external_id: '🍣-鮭 1', is_available: false };
  for (const items of [
    [byExternalId, { item_id: salmon[1].item_id, is_available: true }],
    [{ item_id: salmon[1].item_id, is_available: true }, byExternalId],
    [byExternalId, byExternalId],
  ]) {
    const response = await api.post(path, { items });
    t.match(response, {
      status: 422,
      body: {
        errors: [{ field: '/items/1', code: 'duplicate', message: 'names the same item as /items/0' }],
      },
    });
  }
  t.strictSame(await log.next(), []);
});

t.test('all errors in the rows are reported at once', async (t) => {
  const { path } = await locationOf(1);
  const response = await api.post(path, {
    items: [
      { is_available: true },
      { item_id: 1, external_id: 'A', is_available: true },
      { external_id: 'B', is_available: true, unavailable_until: tomorrow() },
      { external_id: 'C', is_available: false, unavailable_until: '2020-01-01T00:00:00Z' },
    ],
  });
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
  const row = { external_id: 'A', is_available: true };
  for (const body of [
    {},
    { items: [] },
    { items: Array.from({ length: 501 }, (_, place) => ({ item_id: place + 1, is_available: true })) },
    { items: [row], location_ids: [1, 1] },
    { items: [row], location_ids: Array.from({ length: 101 }, (_, place) => place + 1) },
    { items: [row], location_ids: [0] },
    { items: [row], menu_ids: [1] },
  ])
    t.equal((await api.post(path, body)).status, 422, JSON.stringify(body).slice(0, 80));
});

t.test('1,000 items are one step, and one more is refused before anything is locked', async (t) => {
  const { location_id } = await makeLocation(api);
  const { menu_id } = await makeMenu(api, location_id);
  const { account_id } = api.credentials;
  await sql`
    with many as (
      insert into menu (account_id, location_id, name, sort_order)
      select ${account_id}, ${location_id}, 'Menu ' || place, place from generate_series(1, 999) as place
      returning menu_id
    ), all_menus as (select menu_id from many union all select ${menu_id}::bigint), home as (
      insert into category (account_id, location_id, menu_id, name, sort_order)
      select ${account_id}, ${location_id}, menu_id, 'All', 0 from all_menus returning category_id, menu_id
    )
    insert into item (account_id, location_id, menu_id, category_id, name, price, sort_order, external_id)
    select ${account_id}, ${location_id}, menu_id, category_id, 'Salmon', 1, 0, 'SALMON' from home`.execute(
    database,
  );
  const log = await followEvents(database);
  const set = (is_available: boolean) =>
    api.post(`/locations/${location_id}/availability`, { items: [{ external_id: 'SALMON', is_available }] });
  const response = await set(false);
  t.equal(response.status, 200);
  t.equal(response.body.data.length, 1_000);
  t.ok(response.body.data.every(({ result }: { result: string }) => result === 'changed'));
  t.equal((await log.next()).length, 1_000);
  const { rows } = await sql<{ touched: number }>`
    select count(*)::int as touched from menu where location_id = ${location_id} and content_version = 2`.execute(
    database,
  );
  t.strictSame(rows, [{ touched: 1_000 }]);

  const { category_id } = await makeCategory(api, menu_id);
  await makeItem(api, { menu_id, category_id }, { external_id: 'OTHER' });
  await log.next();
  const refused = await api.post(`/locations/${location_id}/availability`, {
    items: [
      { external_id: 'SALMON', is_available: true },
      { external_id: 'OTHER', is_available: false },
    ],
  });
  t.match(refused, {
    status: 422,
    body: {
      errors: [{ field: '/items', code: 'too_many', message: 'name more than 1,000 items together' }],
    },
  });
  t.strictSame(await log.next(), []);
});

t.test('needs only availability:write, and a JSON body', async (t) => {
  const { path } = await locationOf(1);
  const items = [{ external_id: '🍣-鮭 1', is_available: false }];
  const kitchen = await client({ scopes: ['availability:write'] });
  t.match((await kitchen.post(path, { items })).body.data, [{ result: 'changed' }]);
  const reader = await client({ scopes: ['menus:read'] });
  t.match(await reader.post(path, { items }), { status: 403, body: { code: 'insufficient_scope' } });
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const json = { 'content-type': 'application/json' };
  t.equal((await api.call('POST', path, { body: 'items=1', headers: form })).status, 415);
  t.equal((await api.call('POST', path, { body: 'x'.repeat(1_048_577), headers: json })).status, 413);
});

t.test('with an Idempotency-Key a repeat returns the first response and switches nothing', async (t) => {
  const { salmon, path } = await locationOf(2);
  const key = { headers: { 'idempotency-key': 'out-of-salmon' } };
  const body = { items: [{ external_id: '🍣-鮭 1', is_available: false }] };
  const first = await api.post(path, body, key);
  await api.post(`/menus/${salmon[0].menu_id}/items/${salmon[0].item_id}/toggle`);
  const log = await followEvents(database);
  const again = await api.post(path, body, key);
  t.equal(again.text, first.text);
  t.equal(again.headers['idempotency-replayed'], 'true');
  t.strictSame(await log.next(), []);
  t.match(await read(salmon[0]), { is_available: true });
  const other = await api.post(path, { items: [{ external_id: 'OWN-0', is_available: false }] }, key);
  t.match(other, { status: 422, body: { errors: [{ code: 'reused' }] } });
});

t.test('an absence that is over counts as available', async (t) => {
  const { salmon, path } = await locationOf(1);
  const row = { external_id: '🍣-鮭 1' };
  await api.post(path, { items: [{ ...row, is_available: false, unavailable_until: tomorrow() }] });
  const { item_id } = salmon[0];
  await sql`update item set unavailable_until = now() - interval '1 second' where item_id = ${item_id}`.execute(
    database,
  );
  const response = await api.post(path, { items: [{ ...row, is_available: true }] });
  t.match(response.body.data, [
    { result: 'unchanged', item: { is_available: true, unavailable_until: null } },
  ]);
});

t.test('calls on the same menus wait for each other without a deadlock', async (t) => {
  const { location_id, salmon, path } = await locationOf(6);
  const menus: { menu_id: number; category_id: number }[] = salmon;
  for (const place of ['A', 'B', 'C'])
    for (const menu of menus) await makeItem(api, menu, { name: place, external_id: place });
  // In storage the menus lie in another order than that of their ids, as they come to after many changes.
  for (const { menu_id } of menus.toReversed())
    await sql`update menu set external_id = ${`M-${menu_id}`} where menu_id = ${menu_id}`.execute(database);
  const log = await followEvents(database);
  let changed = 0;
  const set = async (external_id: string, is_available: boolean): Promise<number> => {
    const until = is_available ? {} : { unavailable_until: new Date(Date.now() + 150).toISOString() };
    const response = await api.post(path, { items: [{ external_id, is_available, ...until }] });
    // On a busy machine the moment passes before the call is looked at.
    if (response.status === 422) return set(external_id, is_available);
    changed += response.body.data.filter(({ result }: { result: string }) => result === 'changed').length;
    return response.status;
  };
  const one = async (place: number, is_available: boolean) => {
    const { menu_id } = menus[place % menus.length] as { menu_id: number };
    const rows = ['B', 'A'].map((external_id) => ({ external_id, is_available }));
    const response = await api.post(`/menus/${menu_id}/availability`, { items: rows });
    changed += response.body.data.filter(({ result }: { result: string }) => result === 'changed').length;
    return response.status;
  };
  const statuses: number[] = [];
  let restored = 0;
  for (let round = 0; round < 25; round += 1) {
    const off = round % 2 === 0;
    const calls = [set('A', off), set('B', off), set('C', !off), set('A', !off), one(round, off)];
    const restoring = restoreDueItems(database);
    statuses.push(...(await Promise.all(calls)));
    restored += await restoring;
  }
  t.strictSame([...new Set(statuses)], [200]);
  t.equal((await log.next()).length, changed + restored, 'an event for each change');
  const { rows } =
    await sql`select from menu where location_id = ${location_id} and content_version < 3`.execute(database);
  t.strictSame(rows, []);
});
