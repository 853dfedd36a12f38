import { sql } from 'kysely';
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { makeCategory, makeItem, makeLocation, makeMenu } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database } = service;
const never = { weekly: [] };
const daily = (from: string, minutes: number, ...days: string[]) => ({
  days: days.length > 0 ? days : ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
  from,
  minutes,
});
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

async function served(hours: { location?: object; menu?: object; category?: object; item?: object } = {}) {
  const location = await makeLocation(api, { timezone: 'Europe/Berlin', hours: hours.location ?? null });
  const menu = await makeMenu(api, location.location_id, { hours: hours.menu ?? null });
  const category = await makeCategory(api, menu.menu_id, { hours: hours.category ?? null });
  const item = await makeItem(api, category, { hours: hours.item ?? null });
  const path = `/menus/${menu.menu_id}/availability`;
  const at = async (moment?: string) => {
    const query = moment === undefined ? '' : `?at=${encodeURIComponent(moment)}`;
    const response = await api.get(`${path}${query}`);
    if (response.status !== 200) throw new Error(response.text);
    const { items, ...whole } = response.body.data;
    return { ...whole, item: items[0], codes: items[0]?.reasons.map(({ code }: { code: string }) => code) };
  };
  return {
    location,
    menu,
    category,
    item,
    path,
    at,
    itemPath: `/menus/${menu.menu_id}/items/${item.item_id}`,
  };
}

t.test('an item that is on and has no hours can be ordered, with no change to come', async (t) => {
  const { at, menu, item } = await served();
  const { codes: _, ...told } = await at();
  t.same(
    { ...told, at: typeof told.at },
    {
      menu_id: menu.menu_id,
      at: 'string',
      is_orderable: true,
      reasons: [],
      next_change_at: null,
      item: { item_id: item.item_id, is_orderable: true, reasons: [], next_change_at: null },
      modifiers: [],
    },
  );
});

t.test('every reason is named, not only the first, each with its level', async (t) => {
  const { at, menu, itemPath } = await served({ location: never, menu: never, category: never, item: never });
  await api.post(`/menus/${menu.menu_id}/toggle`);
  const { body } = await api.post(`${itemPath}/toggle`);
  const { unavailable_since, unavailable_by } = body.data;
  const ofAll = [{ code: 'location_closed' }, { code: 'menu_inactive' }, { code: 'menu_hours' }];
  const told = await at();
  t.same(told.reasons, ofAll);
  t.equal(told.is_orderable, false);
  t.same(told.item, {
    ...told.item,
    is_orderable: false,
    reasons: [
      ...ofAll,
      { code: 'category_hours' },
      { code: 'item_hours' },
      { code: 'item_off', unavailable_until: null, unavailable_since, unavailable_by },
    ],
  });
});

t.test('all levels must hold, and the next change is the earliest of theirs', async (t) => {
  const { at } = await served({
    location: { weekly: [daily('10:00', 780)] },
    category: { weekly: [daily('12:00', 180)] },
    item: { weekly: [daily('14:00', 240)] },
  });
  const expected: [string, string[], string][] = [
    ['2026-06-15T09:00', ['location_closed', 'category_hours', 'item_hours'], '2026-06-15T08:00:00.000Z'],
    ['2026-06-15T11:00', ['category_hours', 'item_hours'], '2026-06-15T10:00:00.000Z'],
    ['2026-06-15T13:59', ['item_hours'], '2026-06-15T12:00:00.000Z'],
    ['2026-06-15T14:00', [], '2026-06-15T13:00:00.000Z'],
    ['2026-06-15T15:00', ['category_hours'], '2026-06-15T16:00:00.000Z'],
  ];
  for (const [moment, codes, next] of expected) {
    const told = await at(moment);
    t.same(told.codes, codes, moment);
    t.equal(told.item.next_change_at, next);
    t.equal(told.next_change_at, next);
    t.equal(told.is_orderable, !codes.includes('location_closed'), 'of the menu only its own levels count');
  }
});

/* Bugs that others have shipped. Berlin is two hours ahead of UTC in June and one in December. */

t.test('a daily window past midnight is open across it, and closed by day', async (t) => {
  const { at } = await served({ menu: { weekly: [daily('22:00', 240)] } });
  for (const [moment, codes] of [
    ['2026-06-15T21:59', ['menu_hours']],
    ['2026-06-15T22:00', []],
    ['2026-06-16T01:59', []],
    ['2026-06-16T02:00', ['menu_hours']],
    ['2026-06-16T12:00', ['menu_hours']],
  ] as const)
    t.same((await at(moment)).codes, codes, moment);
});

t.test('Friday from ten is still open on Saturday at one, and Friday at one is not', async (t) => {
  const { at } = await served({ menu: { weekly: [daily('22:00', 240, 'fri')] } });
  t.same((await at('2026-06-20T01:00')).codes, [], 'a Saturday');
  t.same((await at('2026-06-19T01:00')).codes, ['menu_hours']);
  t.same((await at('2026-06-21T01:00')).codes, ['menu_hours']);
});

t.test('lunch and dinner of one item are alternatives', async (t) => {
  const { at } = await served({ item: { weekly: [daily('12:00', 180), daily('18:00', 240)] } });
  for (const [moment, codes] of [
    ['2026-06-15T13:00', []],
    ['2026-06-15T16:00', ['item_hours']],
    ['2026-06-15T19:00', []],
  ] as const)
    t.same((await at(moment)).codes, codes, moment);
});

t.test("New Year's Eve lasts into a closed New Year's Day", async (t) => {
  const hours = { weekly: [daily('20:00', 420)], dates: [{ date: '2027-01-01', windows: [] }] };
  const { at } = await served({ location: hours });
  t.same((await at('2027-01-01T02:59')).codes, []);
  t.same((await at('2027-01-01T03:00')).codes, ['location_closed']);
  const evening = await at('2027-01-01T21:00');
  t.same(evening.codes, ['location_closed']);
  t.equal(evening.next_change_at, '2027-01-02T19:00:00.000Z');
});

t.test('a whole day has no minute missing at midnight, and hours around the clock never end', async (t) => {
  const { at } = await served({ location: { weekly: [daily('00:00', 1440)] } });
  t.match(await at('2026-06-15T23:59:59'), { codes: [], next_change_at: null });
  const halves = await served({ location: { weekly: [daily('22:00', 120), daily('00:00', 120)] } });
  const told = await halves.at('2026-06-15T23:00');
  t.match(told, { codes: [], next_change_at: '2026-06-16T00:00:00.000Z' }, 'two halves are one window');
  const minute = await served({ location: { weekly: [daily('00:00', 1)] } });
  t.same((await minute.at('2026-06-15T00:00:59')).codes, []);
  t.same((await minute.at('2026-06-15T00:01')).codes, ['location_closed']);
});

t.test(
  'a start in the gap is the first moment after it; of an hour that comes twice starts take the first',
  async (t) => {
    const { at } = await served({ menu: { weekly: [daily('02:30', 60)] } });
    t.match(await at('2026-03-29T00:59:59Z'), {
      codes: ['menu_hours'],
      next_change_at: '2026-03-29T01:00:00.000Z',
    });
    t.match(await at('2026-03-29T01:00:00Z'), { codes: [], next_change_at: '2026-03-29T01:30:00.000Z' });
    t.match(await at('2026-10-25T00:29:59Z'), { codes: ['menu_hours'] });
    t.match(await at('2026-10-25T00:30:00Z'), { codes: [], next_change_at: '2026-10-25T02:30:00.000Z' });
    t.equal(
      (await at('2026-03-29T02:15')).at,
      '2026-03-29T01:00:00.000Z',
      'and so is a moment that is asked for',
    );
    t.equal((await at('2026-10-25T02:30')).at, '2026-10-25T00:30:00.000Z');
    t.equal((await at('2026-10-25T02:30:00+01:00')).at, '2026-10-25T01:30:00.000Z');
  },
);

t.test('a change of the time zone takes effect at once', async (t) => {
  const { at, location, path } = await served({ menu: { weekly: [daily('12:00', 60)] } });
  const before = await api.get(path);
  t.same((await at('2026-06-15T10:30:00Z')).codes, []);
  await api.put(`/locations/${location.location_id}`, { timezone: 'America/New_York' });
  t.same((await at('2026-06-15T10:30:00Z')).codes, ['menu_hours']);
  t.same((await at('2026-06-15T16:30:00Z')).codes, []);
  t.equal((await at('2026-06-15T12:30')).at, '2026-06-15T16:30:00.000Z');
  const ifNoneMatch = { headers: { 'if-none-match': String(before.headers['etag']) } };
  t.equal((await api.get(path, ifNoneMatch)).status, 200);
});

t.test('an absence ends at its time, which is reported as a change to come', async (t) => {
  const { at, itemPath } = await served();
  const until = inAnHour();
  await api.put(itemPath, { unavailable_until: until });
  const now = await at();
  t.match(now, { is_orderable: true, next_change_at: until });
  t.match(now.item, { reasons: [{ code: 'item_off', unavailable_until: until }], next_change_at: until });
  t.match((await at(until)).item, { is_orderable: true, reasons: [], next_change_at: null });
});

t.test('it is 304 until something relevant changes, which the passing of time alone can do', async (t) => {
  const { path, itemPath, item, location, menu } = await served();
  const get = (etag?: unknown) => api.get(path, { headers: etag ? { 'if-none-match': String(etag) } : {} });
  let { headers } = await get();
  t.equal(headers['cache-control'], 'private, max-age=10');
  const unchanged = await get(headers['etag']);
  t.match(unchanged, { status: 304, text: '' });
  t.equal(unchanged.headers['etag'], headers['etag']);
  t.equal(unchanged.headers['cache-control'], 'private, max-age=10');
  t.equal((await get('*')).status, 304);
  const writes = [
    () => api.post(`${itemPath}/toggle`),
    () => api.put(itemPath, { hours: never }),
    () => api.put(`/menus/${menu.menu_id}`, { hours: never }),
    () => api.put(`/menus/${menu.menu_id}/categories/${item.category_id}`, { hours: never }),
    () => api.put(`/locations/${location.location_id}`, { hours: never }),
  ];
  for (const write of writes) {
    t.equal((await write()).status, 200);
    const changed = await get(headers['etag']);
    t.equal(changed.status, 200);
    headers = changed.headers;
    t.equal((await get(headers['etag'])).status, 304);
  }

  const soon = await served();
  const until = new Date(Date.now() + 3_000).toISOString();
  t.match(await api.put(soon.itemPath, { unavailable_until: until }), { status: 200 });
  const off = await api.get(soon.path);
  t.match(off.body.data.items, [{ is_orderable: false, next_change_at: until }]);
  t.match(String(off.headers['cache-control']), /^private, max-age=[0-3]$/);
  const copy = { headers: { 'if-none-match': String(off.headers['etag']) } };
  const on = await eventually('the item is back', async () => {
    const response = await api.get(soon.path, copy);
    return response.status === 200 && response;
  });
  t.ok(Date.parse(on.body.data.at) >= Date.parse(until));
  t.match(on.body.data.items, [{ is_orderable: true, reasons: [] }]);
  t.equal(
    (
      await database
        .selectFrom('item')
        .select('is_available')
        .where('item_id', '=', soon.item.item_id)
        .executeTakeFirst()
    )?.is_available,
    false,
    'no worker has written it',
  );
});

t.test('the copy of one process is current for another', async (t) => {
  const { path, at } = await served({ location: { weekly: [daily('00:00', 600), daily('12:00', 600)] } });
  const other = await startTestService(t, { connection: service.connection });
  const first = await api.get(path);
  await at('2026-06-15T13:00');
  const copy = { headers: { 'if-none-match': String(first.headers['etag']) } };
  t.equal((await (await other.client()).get(path, copy)).status, 304);
});

t.test('a requested moment has an ETag of its own, and nothing of it is cached', async (t) => {
  const { path } = await served({ menu: { weekly: [daily('12:00', 60)] } });
  const get = (at: string, etag?: unknown) =>
    api.get(`${path}?at=${at}`, { headers: etag ? { 'if-none-match': String(etag) } : {} });
  const noon = await get('2026-06-15T12:00');
  const evening = await get('2026-06-15T20:00');
  t.not(noon.headers['etag'], evening.headers['etag']);
  t.equal((await get('2026-06-15T12:00', noon.headers['etag'])).status, 304);
  t.equal((await get('2026-06-15T20:00', noon.headers['etag'])).status, 200);
  t.equal((await api.get(path)).body.data.at.slice(0, 4), String(new Date().getUTCFullYear()));
});

t.test('a value that is not a moment is refused', async (t) => {
  const { path } = await served();
  for (const at of [
    '',
    'now',
    '2026-06-15',
    '2026-02-30T12:00',
    '2026-06-15T24:00',
    '2026-06-15T12:00Z',
    '2026-06-15T12:00:00.5',
    '2026-06-15 12:00',
    '2026-06-15T12:00:00+15:00',
    '1999-06-15T12:00',
  ]) {
    const response = await api.get(`${path}?at=${encodeURIComponent(at)}`);
    t.equal(response.status, 422, at);
    t.match(response.body.errors, [{ field: 'at' }]);
  }
  const [tooEarly] = (await api.get(`${path}?at=1999-06-15T12:00`)).body.errors;
  t.match(
    tooEarly.message,
    /local time, in the years 2000 to 2099$/,
    'what is right but for its year says why',
  );
  t.equal(
    (await api.get(`${path}?at=2026-06-15T12:00:00.123456789%2B02:00`)).body.data.at,
    '2026-06-15T10:00:00.123Z',
  );
});

t.test('a grant of other locations is 403, an unknown menu 404', async (t) => {
  const { path } = await served();
  const { location_id } = await makeLocation(api);
  t.equal((await (await service.client({ locations: [location_id] })).get(path)).status, 403);
  t.equal((await api.get('/menus/9007199254740991/availability')).status, 404);
});

t.test('the availability of 10,000 items with hours of their own takes only a moment', async (t) => {
  const { path, menu, category } = await served();
  const hours = (place: number) => ({
    weekly: Array.from({ length: 4 }, (_, n) =>
      daily(`0${n + 2}:${String(place % 60).padStart(2, '0')}`, 1 + (place % 1000) + n),
    ),
    dates: [],
    valid_from: `20${String(27 + (place % 70)).padStart(2, '0')}-06-15`,
    valid_until: null,
  });
  const items = Array.from({ length: 9_999 }, (_, place) => ({
    external_id: `I${place}`,
    name: 'I',
    price: 1,
    hours: hours(place),
  }));
  await sql`delete from item where menu_id = ${menu.menu_id}`.execute(database);
  const data = { categories: [{ category_id: category.category_id, items }] };
  const imported = await api.put(`/menus/${menu.menu_id}/content`, { data });
  t.equal(imported.status, 200, imported.text.slice(0, 300));
  const before = process.cpuUsage();
  const response = await api.get(path);
  const { user, system } = process.cpuUsage(before);
  t.comment(`${(user + system) / 1_000} ms of CPU for the first, ${response.text.length} bytes`);
  t.equal(response.body.data.items.length, 9_999);
  const again = process.cpuUsage();
  for (let n = 0; n < 20; n++)
    t.equal(
      (await api.get(path, { headers: { 'if-none-match': String(response.headers['etag']) } })).status,
      304,
    );
  const { user: u, system: s } = process.cpuUsage(again);
  t.comment(`${(u + s) / 20_000} ms of CPU for each further`);
  t.ok((u + s) / 20 < (user + system) / 5, 'what was evaluated is kept');
});
