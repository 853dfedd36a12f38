import t from 'tap';
import { makeCategory, makeItem, makeLocation, makeMenu } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database } = service;

const { location_id } = await makeLocation(api);
const { menu_id } = await makeMenu(api, location_id);
const fish = await makeCategory(api, menu_id);
const drinks = await makeCategory(api, menu_id);
const salmon = await makeItem(api, fish, {
  name: 'Salmon nigiri',
  description: 'Two pieces, 100% hand-pressed',
  allergens: ['Fish', 'soy'],
  dietary_tags: ['pescatarian', 'halal'],
  external_id: 'POS-1',
  sort_order: 9,
});
const tamago = await makeItem(api, fish, {
  name: '玉子焼き ＴＡＭＡＧＯ',
  allergens: ['eggs'],
  dietary_tags: ['vegetarian'],
  is_available: false,
  external_id: 'POS_1',
});
const tea = await makeItem(api, drinks, { name: 'ΤΣΆΙ Thé Vert', dietary_tags: ['vegan', 'vegetarian'] });
const all = [salmon, tamago, tea];

const items = `/menus/${menu_id}/items`;
const list = async (query = '') => {
  const { status, body } = await api.get(`${items}${query && `?${query}`}`);
  t.equal(status, 200, query);
  return body.data.map(({ item_id }: { item_id: number }) => item_id);
};
const ids = (...wanted: { item_id: number }[]) => wanted.map(({ item_id }) => item_id);

t.test('lists all items of the menu by id, whole', async (t) => {
  const { status, body } = await api.get(items);
  t.equal(status, 200);
  t.same(body, { data: all, next_cursor: null });
});

t.test('filters by category, availability and external_id', async (t) => {
  t.same(await list(`category_id=${fish.category_id}`), ids(salmon, tamago));
  t.same(await list('category_id=999999'), []);
  t.same(await list('is_available=true'), ids(salmon, tea));
  t.same(await list('is_available=false'), ids(tamago));
  t.same(await list('external_id=POS-1'), ids(salmon));
  t.same(await list('external_id=POS-2'), []);
});

t.test('dietary_tag asks for all the tags that are given', async (t) => {
  t.same(await list('dietary_tag=vegetarian'), ids(tamago, tea));
  t.same(await list('dietary_tag=vegetarian&dietary_tag=vegan'), ids(tea));
  t.same(await list('dietary_tag=kosher'), []);
});

t.test('allergen_free needs a declaration, and hides no allergen behind a capital letter', async (t) => {
  t.same(await list('allergen_free=milk'), ids(salmon, tamago), 'nothing declared is not "free from"');
  t.same(await list('allergen_free=fish'), ids(tamago));
  t.same(await list('allergen_free=fish&allergen_free=eggs'), []);
});

t.test(
  'q finds part of name or description in any case, width and script, and takes nothing as a pattern',
  async (t) => {
    const find = (text: string) => list(`q=${encodeURIComponent(text)}`);
    t.same(await find('SALMON'), ids(salmon));
    t.same(await find('ｓａｌｍｏｎ'), ids(salmon));
    t.same(await find('tamago'), ids(tamago));
    t.same(await find('玉子'), ids(tamago));
    t.same(await find('τσάι'), ids(tea));
    t.same(await find('THÉ v'), ids(tea));
    t.same(await find('hand-pressed'), ids(salmon));
    t.same(await find('100%'), ids(salmon));
    t.same(await find('1%0'), []);
    t.same(await find('nig_ri'), []);
    t.same(await find('\\'), []);
    t.same(await find('nigiri two'), [], 'not one text after the other');
  },
);

t.test('updated_since includes the moment itself, in any offset', async (t) => {
  t.same(await list(`updated_since=${tea.updated_at}`), ids(tea));
  t.same(await list('updated_since=2099-01-01T00:00:00Z'), []);
  const local = new Date(Date.parse(tea.updated_at) + 2 * 3_600_000).toISOString().replace('Z', '+02:00');
  t.same(await list(`updated_since=${encodeURIComponent(local)}`), ids(tea));
  const { body } = await api.put(`${items}/${salmon.item_id}`, { price: 5 });
  t.same(await list(`updated_since=${body.data.updated_at}`), ids(salmon));
});

t.test('filters together: an item must pass all of them', async (t) => {
  t.same(
    await list(`category_id=${fish.category_id}&is_available=true&allergen_free=milk&q=sal`),
    ids(salmon),
  );
  t.same(await list(`category_id=${drinks.category_id}&is_available=false`), []);
});

t.test('an absence that is over counts as available', async (t) => {
  const { menu_id } = await makeMenu(api, location_id);
  const item = await makeItem(api, await makeCategory(api, menu_id), {
    unavailable_until: new Date(Date.now() + 3_600_000).toISOString(),
  });
  const off = await api.get(`/menus/${menu_id}/items?is_available=false`);
  t.same(off.body.data, [item]);
  await database
    .updateTable('item')
    .set({ unavailable_until: new Date(Date.now() - 1_000) })
    .where('item_id', '=', item.item_id)
    .execute();
  const on = await api.get(`/menus/${menu_id}/items?is_available=true`);
  const returned = { unavailable_until: null, unavailable_since: null, unavailable_by: null };
  t.same(on.body.data, [{ ...item, is_available: true, ...returned }]);
  t.same((await api.get(`/menus/${menu_id}/items?is_available=false`)).body.data, []);
});

t.test('pages keep the filter, and neither skip nor repeat while others write', async (t) => {
  const { menu_id } = await makeMenu(api, location_id);
  const home = await makeCategory(api, menu_id);
  const made: number[] = [];
  for (let n = 0; n < 7; n += 1) made.push((await makeItem(api, home)).item_id);
  await makeItem(api, home, { is_available: false });
  const seen: number[] = [];
  let path = `/menus/${menu_id}/items?is_available=true&limit=3`;
  for (let pages = 0; path && pages < 10; pages += 1) {
    const { body, headers } = await api.get(path);
    seen.push(...body.data.map(({ item_id }: { item_id: number }) => item_id));
    if (pages === 0) {
      await api.delete(`/menus/${menu_id}/items/${made[1]}`);
      await api.put(`/menus/${menu_id}/items/${made[4]}`, { sort_order: 0 });
      made.push((await makeItem(api, home)).item_id);
    }
    const link = /^<\/api\/v1(.*)>; rel="next"$/.exec(String(headers['link'] ?? ''))?.[1];
    t.equal(link === undefined, body.next_cursor === null, 'Link and next_cursor agree');
    path = link ?? '';
  }
  t.same(seen, made);
});

t.test('a page has up to a thousand items', async (t) => {
  t.equal((await api.get(`${items}?limit=1000`)).status, 200);
  t.match((await api.get(`${items}?limit=1001`)).body.errors, [{ field: 'limit', code: 'too_large' }]);
});

t.test('refuses values that no filter accepts, and unknown filters', async (t) => {
  const faults: [string, string, string][] = [
    ['category_id=x', 'category_id', 'type'],
    ['is_available=1', 'is_available', 'type'],
    ['updated_since=yesterday', 'updated_since', 'format'],
    ['q=', 'q', 'too_short'],
    ['limit=ten', 'limit', 'type'],
    ['cursor=MA', 'cursor', 'cursor'],
    ['name=salmon', 'name', 'unknown'],
  ];
  for (const [query, field, code] of faults) {
    const { status, body } = await api.get(`${items}?${query}`);
    t.equal(status, 422, query);
    t.ok(
      body.errors.some(
        (error: { field: string; code: string }) => error.field === field && error.code === code,
      ),
      `${query} ${JSON.stringify(body.errors)}`,
    );
  }
});

t.test('refuses menus that do not exist or lie outside the account or the grant', async (t) => {
  const elsewhere = await makeLocation(api);
  t.equal((await api.get('/menus/999999/items')).status, 404);
  const empty = await makeMenu(api, location_id);
  t.same((await api.get(`/menus/${empty.menu_id}/items`)).body, { data: [], next_cursor: null });
  const other = await service.client({ account: 'Another' });
  const bound = await service.client({ locations: [elsewhere.location_id] });
  const granted = await service.client({ locations: [location_id] });
  t.equal((await other.get(items)).status, 403);
  t.equal((await bound.get(items)).status, 403);
  t.equal((await granted.get(items)).body.data.length, 3);
});
