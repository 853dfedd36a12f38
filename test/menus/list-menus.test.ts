import t from 'tap';
import { makeLocation, makeMenu } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api } = service;

const here = await makeLocation(api);
const there = await makeLocation(api);
const breakfast = await makeMenu(api, here.location_id, { name: 'Breakfast', is_active: false });
const lunch = await makeMenu(api, here.location_id, { name: 'Lunch' });
const dinner = await makeMenu(api, there.location_id, { name: 'Dinner' });
const names = (response: { body: { data: { name: string }[] } }) =>
  response.body.data.map(({ name }) => name);

t.test('lists the menus of the account by id, without their content', async (t) => {
  const { status, body } = await api.get('/menus');
  t.equal(status, 200);
  const ids = body.data.map((menu: { menu_id: number }) => menu.menu_id);
  t.same(
    ids,
    ids.toSorted((a: number, b: number) => a - b),
  );
  t.same(body.data.slice(-3), [breakfast, lunch, dinner]);
  t.equal(body.next_cursor, null);
});

t.test('filters by location and by use, alone and together', async (t) => {
  t.same(names(await api.get(`/menus?location_id=${here.location_id}`)), ['Breakfast', 'Lunch']);
  t.same(names(await api.get(`/menus?location_id=${here.location_id}&is_active=true`)), ['Lunch']);
  t.same(names(await api.get(`/menus?location_id=${here.location_id}&is_active=false`)), ['Breakfast']);
  const off = await api.get('/menus?is_active=false');
  t.ok(off.body.data.every((menu: { is_active: boolean }) => !menu.is_active));
  t.ok(names(off).includes('Breakfast'));
  t.same((await api.get('/menus?location_id=999999')).body, { data: [], next_cursor: null });
});

t.test('shows a client the menus of its grant and account only', async (t) => {
  const bound = await service.client({ locations: [there.location_id] });
  t.same((await bound.get('/menus')).body.data, [dinner]);
  t.same(names(await bound.get(`/menus?location_id=${here.location_id}`)), []);
  const other = await service.client({ account: 'Another' });
  t.same((await other.get('/menus')).body.data, []);
});

t.test('pages keep their filter, neither skip nor repeat while others write, and end', async (t) => {
  const { location_id } = await makeLocation(api);
  const made: number[] = [];
  for (let n = 0; n < 5; n += 1) made.push((await makeMenu(api, location_id)).menu_id);
  const seen: number[] = [];
  let path = `/menus?location_id=${location_id}&limit=2`;
  for (let pages = 0; path && pages < 10; pages += 1) {
    const { body, headers } = await api.get(path);
    seen.push(...body.data.map((menu: { menu_id: number }) => menu.menu_id));
    if (pages === 0) {
      await api.delete(`/menus/${made[0]}`);
      await api.put(`/menus/${made[3]}`, { sort_order: 0 });
      made.push((await makeMenu(api, location_id)).menu_id);
    }
    const link = /^<\/api\/v1(.*)>; rel="next"$/.exec(String(headers['link'] ?? ''))?.[1];
    t.equal(link === undefined, body.next_cursor === null, 'Link and next_cursor agree');
    path = link ?? '';
  }
  t.same(seen, made);
});

t.test('refuses values that no filter accepts', async (t) => {
  const faults: [string, string, string][] = [
    ['location_id=abc', 'location_id', 'type'],
    ['location_id=0', 'location_id', 'too_small'],
    ['is_active=maybe', 'is_active', 'type'],
    ['limit=0', 'limit', 'too_small'],
    ['limit=201', 'limit', 'too_large'],
    ['cursor=!', 'cursor', 'characters'],
    ['cursor=abcd', 'cursor', 'cursor'],
    ['isactive=true', 'isactive', 'unknown'],
  ];
  for (const [query, field, code] of faults) {
    const { status, body } = await api.get(`/menus?${query}`);
    t.equal(status, 422, query);
    t.match(body.errors, [{ field, code }], query);
  }
});

t.test(
  'updated_since combines with other filters; a change inside a menu does not count as one of the menu',
  async (t) => {
    const { body } = await api.put(`/menus/${lunch.menu_id}`, { description: 'From noon' });
    await api.post(`/menus/${dinner.menu_id}/categories`, { name: 'Fish' });
    const since = `updated_since=${encodeURIComponent(body.data.updated_at)}`;
    t.same((await api.get(`/menus?${since}`)).body.data, [body.data]);
    t.same((await api.get(`/menus?${since}&location_id=${here.location_id}`)).body.data, [body.data]);
    t.same((await api.get(`/menus?${since}&location_id=${there.location_id}`)).body.data, []);
    t.same((await api.get(`/menus?${since}&is_active=false`)).body.data, []);
  },
);
