import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import t from 'tap';
import { makeCategory, makeItem, makeLocation, makeMenu } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { database } = service;
const api = await service.client({ account: 'A group of its own' });

const [paris, tokyo] = [await makeLocation(api), await makeLocation(api)];
const menus = [];
for (const { location_id } of [paris, paris, tokyo])
  menus.push(await makeCategory(api, (await makeMenu(api, location_id)).menu_id));
const [lunch, dinner, izakaya] = menus;
// biome-ignore lint/suspicious/noExplicitAny: the contract check has validated them; the tests look into them freely
const salmon: any[] = [];
for (const [place, menu] of menus.entries())
  salmon.push(await makeItem(api, menu, { name: `サーモン ${place}`, external_id: '🍣-鮭 & co' }));
const tuna = await makeItem(api, dinner, { name: 'Tuna', external_id: 'TUNA', is_available: false });
const sake = await makeItem(api, izakaya, { name: 'Saké', description: 'goes with SALMON' });
const all = [...salmon, tuna, sake];

const search = async (...query: [name: string, value: string | number | boolean][]) => {
  const parameters = new URLSearchParams(
    query.map(([name, value]): [string, string] => [name, String(value)]),
  );
  const { status, text, body } = await api.get(`/items?${parameters}`);
  if (status !== 200) throw new Error(text);
  return body.data.map(({ item_id }: { item_id: number }) => item_id);
};
const ids = (...items: { item_id: number }[]) => items.map(({ item_id }) => item_id);

t.test('lists every item of the account by id, as getItem shows it', async (t) => {
  const { status, body } = await api.get('/items');
  t.equal(status, 200);
  t.same(body, { data: all, next_cursor: null });
});

t.test('one external_id finds the item on every menu, in any script; several find each', async (t) => {
  t.same(await search(['external_id', '🍣-鮭 & co']), ids(...salmon));
  t.same(await search(['external_id', 'TUNA'], ['external_id', '🍣-鮭 & co']), ids(...salmon, tuna));
  t.same(await search(['external_id', 'tuna']), [], 'exactly');
  const many = Array.from({ length: 199 }, (): [string, string] => ['external_id', randomUUID()]);
  t.same(await search(...many, ['external_id', 'TUNA']), ids(tuna), 'beside 199 UUIDs');
});

t.test('up to 200 item ids find items whatever their menus are', async (t) => {
  t.same(await search(['item_id', sake.item_id], ['item_id', salmon[0].item_id]), ids(salmon[0], sake));
  t.same(await search(['item_id', 9_000_000]), []);
  const many = Array.from({ length: 199 }, (_, place): [string, number] => ['item_id', 9_000_000 + place]);
  t.same(await search(...many, ['item_id', tuna.item_id]), ids(tuna));
});

t.test('filters by text, location and availability, and by all of them together', async (t) => {
  t.same(await search(['q', 'ｻｰﾓﾝ']), ids(...salmon));
  t.same(await search(['q', 'salmon']), ids(sake));
  t.same(await search(['q', '%']), []);
  t.same(await search(['location_id', paris.location_id]), ids(salmon[0], salmon[1], tuna));
  t.same(await search(['location_id', 9_000_000]), []);
  t.same(await search(['is_available', false]), ids(tuna));
  t.same(await search(['is_available', true]), ids(...salmon, sake));
  const filters: [string, string | number | boolean][] = [
    ['item_id', salmon[2].item_id],
    ['item_id', salmon[1].item_id],
    ['external_id', '🍣-鮭 & co'],
    ['q', 'サーモン'],
    ['location_id', tokyo.location_id],
    ['is_available', true],
  ];
  t.same(await search(...filters), ids(salmon[2]));
  t.same(await search(...filters.filter(([name]) => name !== 'location_id')), ids(salmon[1], salmon[2]));
  t.same(await search(...filters.slice(2)), ids(salmon[2]));
  t.same(await search(...filters.slice(2, -1), ['is_available', false]), []);
});

t.test('an absence that is over counts as available', async (t) => {
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const item = await makeItem(api, lunch, { name: 'Eel', unavailable_until: until });
  t.same(await search(['q', 'Eel'], ['is_available', false]), ids(item));
  await sql`update item set unavailable_until = now() - interval '1 second'
    where item_id = ${item.item_id}`.execute(database);
  t.same(await search(['q', 'Eel'], ['is_available', false]), []);
  t.same(await search(['q', 'Eel'], ['is_available', true]), ids(item));
  await api.delete(`/menus/${item.menu_id}/items/${item.item_id}`);
});

t.test('shows a client the items of its account and grant only, however they are named', async (t) => {
  const other = await service.client({ account: 'Another' });
  const none = await service.client({ account: 'A group of its own', locations: [] });
  const bound = await service.client({ account: 'A group of its own', locations: [tokyo.location_id] });
  const both = [paris.location_id, tokyo.location_id];
  const wide = await service.client({ account: 'A group of its own', locations: [...both, 9_000_000] });
  const named = all.map(({ item_id }) => `item_id=${item_id}`).join('&');
  const queries = ['', named, `external_id=${encodeURIComponent('🍣-鮭 & co')}`, 'is_available=true', 'q=a'];
  for (const query of [...queries, `location_id=${paris.location_id}`]) {
    const read = async (client: typeof api) => (await client.get(`/items?${query}`)).body.data;
    const own = await read(api);
    t.ok(own.length > 0, query);
    t.same(await read(other), [], query);
    t.same(await read(none), [], query);
    t.same(
      await read(bound),
      own.filter(({ menu_id }: { menu_id: number }) => menu_id === izakaya?.menu_id),
      query,
    );
    t.same(await read(wide), own, query);
  }
  const writer = await service.client({ account: 'A group of its own', scopes: ['availability:write'] });
  t.match(await writer.get('/items'), { status: 403, body: { code: 'insufficient_scope' } });
});

t.test('refuses values that no filter accepts, and unknown filters', async (t) => {
  const repeated = (name: string, count: number) =>
    Array.from({ length: count }, (_, place) => `${name}=${place + 1}`).join('&');
  const faults: [string, string, string][] = [
    [repeated('item_id', 201), 'item_id', 'too_many'],
    [repeated('external_id', 201), 'external_id', 'too_many'],
    ['item_id=1e3', 'item_id', 'type'],
    ['item_id=7&item_id=0x10', 'item_id', 'type'],
    ['item_id=7&item_id=007', 'item_id', 'type'],
    ['item_id=7&item_id=7', 'item_id', 'duplicate'],
    ['external_id=', 'external_id/0', 'too_short'],
    ['location_id=x', 'location_id', 'type'],
    ['is_available=1', 'is_available', 'type'],
    ['q=', 'q', 'too_short'],
    ['limit=1001', 'limit', 'too_large'],
    ['cursor=MA', 'cursor', 'cursor'],
    ['menu_id=1', 'menu_id', 'unknown'],
  ];
  for (const [query, field, code] of faults) {
    const { status, body } = await api.get(`/items?${query}`);
    t.equal(status, 422, query.slice(0, 40));
    t.match(body.errors, [{ field, code }], `${query.slice(0, 40)} ${JSON.stringify(body.errors)}`);
  }
});

t.test('pages neither skip nor repeat, whichever way the items are found', async (t) => {
  for (const filter of [
    '',
    'is_available=true',
    `external_id=${encodeURIComponent('🍣-鮭 & co')}`,
    'q=%E3%82%B5',
  ]) {
    const whole = (await api.get(`/items?${filter}&limit=1000`)).body.data;
    const seen: object[] = [];
    let path = `/items?${filter}&limit=1`;
    for (let pages = 0; path && pages < 20; pages += 1) {
      const { body, headers } = await api.get(path);
      seen.push(...body.data);
      path = /^<\/api\/v1(.*)>; rel="next"$/.exec(String(headers['link'] ?? ''))?.[1] ?? '';
    }
    t.same(seen, whole, filter);
  }
});

t.test('a rare match in a big account is reached by pages that examine so many items each', async (t) => {
  const chain = await service.client({ account: 'A chain' });
  const { location_id } = await makeLocation(chain);
  const category = await makeCategory(chain, (await makeMenu(chain, location_id)).menu_id);
  const { account_id } = chain.credentials;
  await sql`insert into item (account_id, location_id, menu_id, category_id, name, price, sort_order)
    select ${account_id}, ${location_id}, ${category.menu_id}, ${category.category_id}, 'Dish ' || n, 1, n
    from generate_series(1, 9999) as n`.execute(database);
  const last = await makeItem(chain, category, { name: 'Octopus', is_available: false, sort_order: 1 });
  for (const filter of ['q=octopus', 'is_available=false', `q=octopus&location_id=${location_id}`]) {
    const first = await chain.get(`/items?${filter}`);
    t.same(first.body.data, [], filter);
    const second = await chain.get(`/items?${filter}&cursor=${first.body.next_cursor}`);
    t.same(second.body.data, [last], filter);
    const third = await chain.get(`/items?${filter}&cursor=${second.body.next_cursor}`);
    t.same(third.body, { data: [], next_cursor: null }, filter);
  }
});

t.test('a page that the client has already is 304, until something on it changes', async (t) => {
  const path = `/items?external_id=${encodeURIComponent('🍣-鮭 & co')}`;
  const etag = String((await api.get(path)).headers['etag']);
  const again = () => api.get(path, { headers: { 'if-none-match': etag } });
  t.match(await again(), { status: 304, text: '', headers: { etag } });
  await api.post(`/menus/${tuna.menu_id}/items/${tuna.item_id}/toggle`);
  t.equal((await again()).status, 304, 'an item that is not on it');
  await api.post(`/menus/${salmon[1].menu_id}/items/${salmon[1].item_id}/toggle`);
  t.match(await again(), { status: 200, body: { data: [{}, { is_available: false }, {}] } });
});
