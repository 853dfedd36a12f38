import { parse } from 'csv-parse/sync';
import { sql } from 'kysely';
import t from 'tap';
import { openDatabase } from '../../src/db/database.ts';
import type { ApiResponse } from '../support/api.ts';
import { followEvents } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { makeCategory, makeItem, makeLocation, makeMenu, makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database } = service;
const csv = { headers: { accept: 'text/csv' } };

t.test('the document is the whole menu, in display order, with the identifiers of its owner', async (t) => {
  const { location_id } = await makeLocation(api);
  const menu = await makeMenu(api, location_id, { name: 'Evening', description: 'From five.' });
  const second = await makeCategory(api, menu.menu_id, { external_id: 'B', sort_order: 2 });
  const first = await makeCategory(api, menu.menu_id, { name: 'Rolls', sort_order: 1 });
  const fields = { description: 'Two.', photo_url: null, allergens: ['fish'], dietary_tags: ['raw'] };
  await makeItem(api, second, { external_id: 'B2', name: 'Tuna', price: 5, sort_order: 9, ...fields });
  await makeItem(api, second, { external_id: 'B1', sort_order: 3 });
  const nameless = await makeItem(api, first, { price: 4.9 });

  const response = await api.get(`/menus/${menu.menu_id}/content`);
  t.equal(response.status, 200);
  const unset = { hours: null, modifier_groups: [] };
  const plain = { description: '', photo_url: null, allergens: [], dietary_tags: [], ...unset };
  t.strictSame(response.body.data, {
    name: 'Evening',
    description: 'From five.',
    hours: null,
    categories: [
      {
        category_id: first.category_id,
        name: 'Rolls',
        description: '',
        hours: null,
        items: [{ item_id: nameless.item_id, name: 'Salmon', price: 4.9, ...plain }],
      },
      {
        external_id: 'B',
        name: 'Nigiri',
        description: '',
        hours: null,
        items: [
          { external_id: 'B1', name: 'Salmon', price: 4.5, ...plain },
          { external_id: 'B2', name: 'Tuna', price: 5, ...unset, ...fields },
        ],
      },
    ],
    modifier_groups: [],
  });
});

t.test('a window past midnight is one window in the document, and stays one', async (t) => {
  const { menu } = await makeTree(api);
  const weekly = [
    { days: ['fri', 'sat'], from: '22:00', minutes: 240 },
    { days: ['sun'], from: '00:00', minutes: 1440 },
  ];
  const dates = [
    { date: '2026-12-31', windows: [{ from: '20:00', minutes: 480 }] },
    { date: '2027-01-01', windows: [] },
  ];
  await api.put(`/menus/${menu.menu_id}`, { hours: { weekly, dates } });
  const path = `/menus/${menu.menu_id}/content`;
  const document = (await api.get(path)).body;
  const hours = { weekly, dates, valid_from: null, valid_until: null };
  t.strictSame(document.data.hours, hours);
  t.strictSame((await api.put(path, document)).body.data.menu, null);
  const copy = await makeMenu(api, menu.location_id);
  await api.put(`/menus/${copy.menu_id}/content`, {
    data: { hours: document.data.hours, categories: [] },
  });
  t.strictSame((await api.get(`/menus/${copy.menu_id}`)).body.data.hours, hours);
});

t.test('getItem, an export as JSON or CSV, and an import write a price alike', async (t) => {
  const { menu, category } = await makeTree(api);
  const { item_id } = await makeItem(api, category, { external_id: 'P', name: 'Plum', price: 480 });
  const content = `/menus/${menu.menu_id}/content`;
  const written = /"price":480\.00\b/;
  t.match((await api.get(`/menus/${menu.menu_id}/items/${item_id}`)).text, written);
  const document = (await api.get(content)).text;
  t.match(document, written);
  t.match((await api.get(content, csv)).text, /,Plum,,480\.00,/);
  const body = document.replace(written, '"price":481.5');
  const headers = { 'content-type': 'application/json' };
  const { text } = await api.call('PUT', `${content}?dry_run=true`, { body, headers });
  t.match(text, '"old":{"price":480.00},"new":{"price":481.50}');
});

t.test('what staff switch during service is in the document only on request', async (t) => {
  const { menu, item } = await makeTree(api);
  const path = `/menus/${menu.menu_id}/content`;
  const until = new Date(Date.now() + 3_600_000).toISOString();
  await api.put(`/menus/${menu.menu_id}/items/${item.item_id}`, { unavailable_until: until });

  const without = (await api.get(path)).body.data;
  t.notOk('is_active' in without);
  t.notOk('is_available' in without.categories[0].items[0]);
  t.notOk((await api.get(path, csv)).text.includes('is_available'));

  const withIt = (await api.get(`${path}?availability=true`)).body.data;
  t.equal(withIt.is_active, true);
  t.match(withIt.categories[0].items[0], { is_available: false, unavailable_until: until });
  const [header, menuRow, , itemRow] = parse((await api.get(`${path}?availability=true`, csv)).text);
  t.strictSame(header?.slice(-3), ['is_active', 'is_available', 'unavailable_until']);
  t.strictSame(menuRow?.slice(-3), ['true', '', '']);
  t.strictSame(itemRow?.slice(-3), ['', 'false', until]);
});

t.test('CSV is what spreadsheets read: a byte order mark, CRLF, quotes', async (t) => {
  const { menu, category, item } = await makeTree(api);
  const description = 'Line one\r\nline "two", and\nthree';
  const allergens = ['a;b', ' lead', 'say "hi"', '=1'];
  await api.put(`/menus/${menu.menu_id}/items/${item.item_id}`, { description, allergens });
  const { text, headers } = await api.get(`/menus/${menu.menu_id}/content`, csv);
  t.equal(headers['content-type'], 'text/csv; charset=utf-8');
  t.ok(text.startsWith('\ufeffrecord,category_external_id,'));
  t.ok(text.endsWith('\r\n'));
  const rows = parse(text, { bom: true, columns: true, record_delimiter: '\r\n' }) as Record<
    string,
    string
  >[];
  t.strictSame(
    rows.map(({ record }) => record),
    ['menu', 'category', 'item'],
  );
  t.match(rows[1], { category_external_id: '', category_id: String(category.category_id), name: 'Nigiri' });
  t.match(rows[2], { item_id: String(item.item_id), price: '4.50', description });
  t.equal(rows[2]?.['allergens'], '"a;b";" lead";"say ""hi""";=1');
});

t.test('no cell begins like a formula', async (t) => {
  const { menu, item } = await makeTree(api);
  const path = `/menus/${menu.menu_id}/items/${item.item_id}`;
  const cells = async () =>
    parse((await api.get(`/menus/${menu.menu_id}/content`, csv)).text, { bom: true }).flat();
  for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', '＝1+1', "'=1", "''+1"]) {
    await api.put(path, { name: text, description: text, external_id: text, allergens: [text] });
    const found = await cells();
    t.equal(found.filter((cell) => cell === `'${text}`).length, 4, JSON.stringify(text));
    t.notOk(found.some((cell) => /^[=+\-@＝＋－＠]/.test(cell)));
  }
  for (const text of ['\t=1', '\r=1', '\n=1']) {
    await api.put(path, { description: text });
    t.ok((await cells()).includes(`'${text}`), JSON.stringify(text));
  }
});

t.test('Accept chooses between JSON and CSV', async (t) => {
  const { menu } = await makeTree(api);
  const ask = async (accept: string) => {
    const { status, headers } = await api.get(`/menus/${menu.menu_id}/content`, { headers: { accept } });
    t.equal(headers['vary'], 'Accept, Accept-Encoding');
    return status === 200 ? String(headers['content-type']).split(';')[0] : status;
  };
  const json = 'application/json';
  t.equal(await ask('*/*'), json);
  t.equal(await ask(''), json);
  t.equal(await ask('text/csv'), 'text/csv');
  t.equal(await ask('TEXT/CSV; header=present'), 'text/csv');
  t.equal(await ask('text/*'), 'text/csv');
  t.equal(await ask('application/json;q=0.5, text/csv;q=0.9'), 'text/csv');
  t.equal(await ask('application/json;q=0.9, text/csv;q=0.5'), json);
  t.equal(await ask('text/csv;q=0.1, application/json'), json);
  t.equal(await ask('text/csv;q=0, */*;q=0.1'), json);
  t.equal(await ask('application/json;q=0, */*;q=0.1'), 'text/csv');
  t.equal(await ask('text/html, application/xhtml+xml, */*;q=0.8'), json);
  t.equal(await ask('application/xml'), 406);
  t.equal(await ask('text/csv;q=0'), 406);
  t.equal(await ask('application/json;q=0'), 406);
});

t.test('each media type has an ETag of its own, and an unchanged document is not sent again', async (t) => {
  const { menu, item } = await makeTree(api);
  const path = `/menus/${menu.menu_id}/content`;
  const tags: string[] = [];
  for (const accept of ['application/json', 'text/csv']) {
    const etag = String((await api.get(path, { headers: { accept } })).headers['etag']);
    t.equal((await api.get(path, { headers: { accept, 'if-none-match': etag } })).status, 304);
    tags.push(etag);
  }
  t.not(tags[0], tags[1]);
  t.equal(tags[0], (await api.get(`/menus/${menu.menu_id}`)).headers['etag'], 'JSON has that of getMenu');
  const crossed = { accept: 'text/csv', 'if-none-match': String(tags[0]) };
  t.equal((await api.get(path, { headers: crossed })).status, 200);
  await api.post(`/menus/${menu.menu_id}/items/${item.item_id}/toggle`);
  t.equal((await api.get(path, { headers: { 'if-none-match': tags.join(', ') } })).status, 200);
});

t.test('a menu of another account or location is not exported', async (t) => {
  const { menu } = await makeTree(api);
  const stranger = await service.client({ account: 'Other' });
  const elsewhere = await service.client({ locations: [1] });
  for (const api of [stranger, elsewhere]) {
    t.equal((await api.get(`/menus/${menu.menu_id}/content`)).status, 403);
    const etag = { headers: { 'if-none-match': '*' } };
    t.equal((await api.get(`/menus/${menu.menu_id}/content`, etag)).status, 403);
  }
  t.equal((await api.get('/menus/999999/content')).status, 404);
  t.equal((await api.get(`/menus/${menu.menu_id}/content?format=csv`)).status, 422);
});

t.test('every menu of the demo account survives a round trip without a change or an event', async (t) => {
  const menus = (await api.get('/menus')).body.data;
  t.ok(menus.length >= 6);
  const events = await followEvents(database);
  for (const { menu_id } of menus) {
    const before = await api.get(`/menus/${menu_id}`);
    for (const query of ['', '?availability=true']) {
      const path = `/menus/${menu_id}/content`;
      const json = await api.put(path, (await api.get(path + query)).body);
      const text = (await api.get(path + query, csv)).text;
      const asCsv = await api.call('PUT', path, { body: text, headers: { 'content-type': 'text/csv' } });
      const count = before.body.data.categories.flatMap((one: { items: object[] }) => one.items).length;
      for (const response of [json, asCsv]) {
        t.match(response, { status: 200, body: { data: { menu: null, items: { unchanged: count } } } });
      }
    }
    t.strictSame((await api.get(`/menus/${menu_id}`)).text, before.text);
  }
  t.strictSame(await events.next(), []);
});

t.test('whatever an item contains survives a round trip as CSV', async (t) => {
  const { menu, category } = await makeTree(api);
  const texts = [
    "'",
    "'=1",
    '=cmd|',
    '"',
    '""',
    ',',
    ';',
    ' spaced ',
    'ネギトロ',
    'سلطة',
    '🍣',
    'a\u2028b',
    '-',
    '\\',
  ];
  for (const text of texts) {
    await makeItem(api, category, {
      external_id: `${text}${text}`,
      name: `${text}x`,
      description: `${text}\r\n\t${text}\n\n${text}\r`,
      photo_url: `https://images.example.com/?q=${encodeURIComponent(text)}`,
      allergens: [`${text}x`, `x${text}`, 'x'],
      dietary_tags: [`${text}.`],
    });
  }
  const path = `/menus/${menu.menu_id}/content`;
  const before = await api.get(path);
  const text = (await api.get(path, csv)).text;
  const events = await followEvents(database);
  const same = await api.call('PUT', path, { body: text, headers: { 'content-type': 'text/csv' } });
  t.match(same.body.data.items, { created: [], updated: [], deleted: [], unchanged: texts.length + 1 });
  t.strictSame(await events.next(), []);

  const target = await makeMenu(api, menu.location_id, { name: 'Copy' });
  const named = JSON.parse(before.text);
  named.data.categories[0].external_id = 'N';
  named.data.categories[0].category_id = undefined;
  named.data.categories[0].items.shift();
  await api.put(`/menus/${target.menu_id}/content`, named);
  const copied = (await api.get(`/menus/${target.menu_id}/content`)).body;
  t.strictSame(
    copied.data.categories[0].items,
    before.body.data.categories[0].items.slice(1),
    'another menu takes it too',
  );
});

t.test('exports of one client leave connections to the others', async (t) => {
  const { api, client, connection } = await startTestService(t, { pool: { max: 4 } });
  const { menu } = await makeTree(api);
  const other = await client({ account: 'Another restaurant group' });
  await other.get('/locations');
  const beside = openDatabase(connection, { max: 2 });
  t.teardown(() => beside.destroy());
  let exports: Promise<ApiResponse>[] = [];
  await beside.transaction().execute(async (transaction) => {
    await sql`lock table item in access exclusive mode`.execute(transaction);
    exports = Array.from({ length: 10 }, () => api.get(`/menus/${menu.menu_id}/content`));
    await eventually('some wait in the database', async () => {
      const { rows } = await sql`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(beside);
      return rows.length >= 2;
    });
    t.equal((await other.get('/locations')).status, 200);
  });
  for (const { status } of await Promise.all(exports)) t.equal(status, 200);
});
