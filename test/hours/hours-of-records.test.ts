import t from 'tap';
import { followEvents } from '../support/events.ts';
import { makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const { api, database } = await startTestService(t);
const events = await followEvents(database);

const evenings = { weekly: [{ days: ['fri', 'sat'], from: '22:00', minutes: 240 }] };
const complete = { ...evenings, dates: [], valid_from: null, valid_until: null };
const closed = { ...complete, dates: [{ date: '2027-01-01', windows: [] }], valid_until: '2027-06-30' };
const csv = { accept: 'text/csv' };

/** A record of each kind that can have hours, and how to make another. */
async function records() {
  const { location, menu, category, item } = await makeTree(api);
  const inMenu = `/menus/${menu.menu_id}`;
  return [
    {
      kind: 'location',
      path: `/locations/${location.location_id}`,
      list: '/locations',
      body: { name: 'Second', timezone: 'Europe/Paris', currency: 'EUR' },
    },
    {
      kind: 'menu',
      path: inMenu,
      list: '/menus',
      body: { name: 'Second', location_id: location.location_id },
    },
    {
      kind: 'category',
      path: `${inMenu}/categories/${category.category_id}`,
      list: `${inMenu}/categories`,
      body: { name: 'Second' },
    },
    {
      kind: 'item',
      path: `${inMenu}/items/${item.item_id}`,
      list: `${inMenu}/items`,
      body: { name: 'Second', category_id: category.category_id, price: 3 },
    },
  ];
}

t.test('a location, a menu, a category and an item each have hours, null unless given', async (t) => {
  for (const { kind, path, list, body } of await records()) {
    t.equal((await api.get(path)).body.data.hours, null, kind);
    const created = await api.post(list, { ...body, hours: evenings });
    t.equal(created.status, 201, created.text);
    t.same(created.body.data.hours, complete, 'what is left out is shown');
    t.same((await api.get(created.headers['location']?.toString().slice(7) ?? '')).body.data.hours, complete);
    const page = await api.get(`${list}?limit=200`);
    t.same(page.body.data.at(-1).hours, complete);
  }
});

t.test(
  'an update replaces hours as a whole, keeps them, or clears them, and tells what they were',
  async (t) => {
    for (const { kind, path } of await records()) {
      await events.next();
      const first = await api.put(path, { hours: evenings });
      t.same(first.body.data.hours, complete, kind);
      t.match(await events.next(), [{ type: `${kind}.updated`, previous: { hours: null } }]);
      const second = await api.put(path, { hours: closed });
      t.same(second.body.data.hours, closed);
      const [told] = await events.next();
      t.same(told?.['previous'], { hours: complete });
      t.same(told?.['data'].hours, closed);
      await api.put(path, { name: 'Other' });
      t.same((await events.next())[0]?.['previous'], { name: told?.['data'].name });
      t.same((await api.get(path)).body.data.hours, closed);
      await api.put(path, { hours: closed });
      t.same(await events.next(), [], 'what is so already changes nothing');
      t.equal((await api.put(path, { hours: null })).body.data.hours, null);
      t.same((await events.next())[0]?.['previous'], { hours: closed });
    }
  },
);

t.test('hours of a category or an item change the ETag of the menu', async (t) => {
  const [, menu, category, item] = await records();
  let known = (await api.get(menu?.path ?? '')).headers['etag'];
  for (const record of [category, item]) {
    await api.put(record?.path ?? '', { hours: evenings });
    const { headers } = await api.get(menu?.path ?? '');
    t.not(headers['etag'], known, String(record?.kind));
    known = headers['etag'];
  }
});

t.test(
  'hours that make no sense are refused by every write that takes them, all errors at once',
  async (t) => {
    const window = { from: '17:00', minutes: 60 };
    const weekly = (change: object) => ({ weekly: [{ days: ['mon'], ...window, ...change }] });
    const dated = (...dates: string[]) => ({
      weekly: [],
      dates: dates.map((date) => ({ date, windows: [] })),
    });
    const wrong: [hours: object, field: string, code: string][] = [
      [{}, '/hours/weekly', 'required'],
      [weekly({ days: [] }), '/hours/weekly/0/days', 'too_few'],
      [weekly({ days: ['mon', 'mon'] }), '/hours/weekly/0/days', 'duplicate'],
      [weekly({ days: ['monday'] }), '/hours/weekly/0/days/0', 'enum'],
      [weekly({ from: '24:00' }), '/hours/weekly/0/from', 'characters'],
      [weekly({ from: '9:00' }), '/hours/weekly/0/from', 'too_short'],
      [weekly({ from: '09:60' }), '/hours/weekly/0/from', 'characters'],
      [weekly({ minutes: 0 }), '/hours/weekly/0/minutes', 'too_small'],
      [weekly({ minutes: 1441 }), '/hours/weekly/0/minutes', 'too_large'],
      [weekly({ minutes: 1.5 }), '/hours/weekly/0/minutes', 'type'],
      [weekly({ to: '18:00' }), '/hours/weekly/0/to', 'unknown'],
      [dated('2026-02-29'), '/hours/dates/0/date', 'format'],
      [dated('2026-12-24', '2026-12-24'), '/hours/dates/1/date', 'duplicate'],
      [{ weekly: [], valid_from: '2026-05-02', valid_until: '2026-05-01' }, '/hours/valid_until', 'conflict'],
      [{ weekly: [], valid_until: '2026-06-31' }, '/hours/valid_until', 'format'],
      [{ weekly: Array(22).fill({ days: ['mon'], ...window }) }, '/hours/weekly', 'too_many'],
    ];
    for (const { kind, path, list, body } of await records())
      for (const [hours, field, code] of wrong)
        for (const response of [await api.put(path, { hours }), await api.post(list, { ...body, hours })]) {
          t.equal(response.status, 422, `${kind} ${JSON.stringify(hours)}`);
          t.match(
            response.body.errors.filter((error: { field: string }) => error.field === field),
            [{ code }],
            response.text,
          );
        }
    const [, , , item] = await records();
    const two = await api.put(item?.path ?? '', {
      hours: dated('2026-12-24', '2026-12-24'),
      unavailable_until: '2020-01-01T00:00:00Z',
    });
    t.same(
      two.body.errors.map(({ code }: { code: string }) => code),
      ['past', 'duplicate'],
    );
  },
);

t.test('an item has fewer windows than a category, so that its events stay small', async (t) => {
  const [, , category, item] = await records();
  const hours = { weekly: Array(5).fill({ days: ['mon'], from: '17:00', minutes: 60 }) };
  t.equal((await api.put(category?.path ?? '', { hours })).status, 200);
  const refused = await api.put(item?.path ?? '', { hours });
  t.match(refused.body.errors, [{ field: '/hours/weekly', code: 'too_many' }]);
});

t.test('the menu document contains hours; one that does not mention them keeps them', async (t) => {
  const { menu, category, item } = await makeTree(api);
  const inMenu = `/menus/${menu.menu_id}`;
  const content = `${inMenu}/content`;
  const paths = [inMenu, `${inMenu}/categories/${category.category_id}`, `${inMenu}/items/${item.item_id}`];
  for (const path of paths) await api.put(path, { hours: closed });
  const shown = async () => Promise.all(paths.map(async (path) => (await api.get(path)).body.data.hours));

  const exported = await api.get(content);
  const [shownCategory] = exported.body.data.categories;
  t.same(
    [exported.body.data.hours, shownCategory.hours, shownCategory.items[0].hours],
    Array(3).fill(closed),
  );
  await events.next();
  t.equal((await api.put(content, exported.body)).status, 200);
  t.same(await events.next(), [], 'what was exported changes nothing');

  const silent = JSON.parse(exported.text, (key, value) => (key === 'hours' ? undefined : value));
  t.equal((await api.put(content, silent)).status, 200);
  const table = await api.get(content, { headers: csv });
  const imported = await api.call('PUT', content, {
    body: table.text,
    headers: { 'content-type': 'text/csv' },
  });
  t.equal(imported.status, 200, imported.text);
  t.same(await shown(), Array(3).fill(closed), 'kept by a document and by a CSV without hours');
  t.same(await events.next(), []);

  const spoken = (hours: object | null) =>
    JSON.parse(exported.text, (key, value) => (key === 'hours' ? hours : value));
  const diff = await api.put(`${content}?dry_run=true`, spoken(evenings));
  t.match(diff.body.data.items.updated, [{ old: { hours: closed }, new: { hours: complete } }]);
  t.equal((await api.put(content, spoken(evenings))).status, 200);
  t.same(await shown(), Array(3).fill(complete));
  t.match(await events.next(), Array(3).fill({ previous: { hours: closed } }));
  t.equal((await api.put(content, spoken(null))).status, 200);
  t.same(await shown(), [null, null, null]);

  const wrong = spoken({ weekly: [], valid_from: '2026-05-02', valid_until: '2026-05-01' });
  const refused = await api.put(content, wrong);
  t.same(
    refused.body.errors.map(({ field }: { field: string }) => field),
    ['/data', '/data/categories/0', '/data/categories/0/items/0'].map((at) => `${at}/hours/valid_until`),
  );
});

t.test('hours of the same document are created with a new menu', async (t) => {
  const { menu } = await makeTree(api);
  const document = {
    data: {
      hours: evenings,
      categories: [
        {
          external_id: 'C',
          name: 'C',
          hours: closed,
          items: [{ external_id: 'I', name: 'I', price: 1, hours: evenings }],
        },
      ],
    },
  };
  t.equal((await api.put(`/menus/${menu.menu_id}/content`, document)).status, 200);
  const { hours, categories } = (await api.get(`/menus/${menu.menu_id}`)).body.data;
  t.same([hours, categories[0].hours, categories[0].items[0].hours], [complete, closed, complete]);
});
