import t from 'tap';
import { followEvents } from '../support/events.ts';
import { makeCategory, makeItem, makeLocation, makeMenu } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t);
const { api, database } = service;

/** An empty menu, and how to send it CSV. */
async function makeEmptyMenu() {
  const { location_id } = await makeLocation(api);
  const { menu_id } = await makeMenu(api, location_id);
  const path = `/menus/${menu_id}/content`;
  const send = (body: string | Buffer, contentType = 'text/csv') =>
    api.call('PUT', path, { body, headers: { 'content-type': contentType } });
  const faults = async (text: string) => {
    const response = await send(text);
    t.equal(response.status, 422, text);
    return response.body.errors.map(
      ({ field, code }: { field: string; code: string }) => `${field}: ${code}`,
    );
  };
  return { menu_id, path, send, faults, stored: async () => (await api.get(`/menus/${menu_id}`)).body.data };
}

const header = 'record,category_external_id,external_id,name,price,allergens';
const nigiri = 'category,N,,Nigiri,,';

t.test('CSV is accepted as programs and spreadsheets write it', async (t) => {
  const { send, stored } = await makeEmptyMenu();
  const rows = [header, nigiri, 'item,N,S,"Salmon, ""wild""",4.50,fish;soy', 'item,N,T,鮪,5,'];
  const expected = [
    {
      external_id: 'N',
      items: [
        { external_id: 'S', name: 'Salmon, "wild"', price: 4.5, allergens: ['fish', 'soy'] },
        { external_id: 'T', name: '鮪', price: 5, allergens: [] },
      ],
    },
  ];
  const unchanged = { body: { data: { items: { created: [], updated: [], deleted: [], unchanged: 2 } } } };
  t.equal((await send(rows.join('\n'))).status, 200);
  t.match((await stored()).categories, expected);
  const forms: Record<string, string | Buffer> = {
    CRLF: `${rows.join('\r\n')}\r\n`,
    CR: rows.join('\r'),
    'a byte order mark': `\ufeff${rows.join('\r\n')}`,
    'empty lines': `${rows.join('\n\n')}\n,,,,,\n\n`,
    'everything quoted': rows
      .map(
        (row) =>
          `"${row
            .replaceAll('"', '')
            .split(/,(?! )/)
            .join('","')}"`,
      )
      .join('\n'),
  };
  for (const [form, body] of Object.entries(forms)) {
    if (form === 'everything quoted') t.equal((await send(body)).status, 200, form);
    else t.match(await send(body), unchanged, form);
  }
  t.equal((await send(rows.join('\n'))).status, 200);
  for (const type of ['text/csv; charset=utf-8', 'text/csv;charset="UTF-8"; header=present', 'TEXT/CSV']) {
    t.match(await send(rows.join('\n'), type), unchanged, type);
  }
  const swapped = rows.map((row) =>
    row
      .replaceAll(';', '|')
      .replaceAll(/,(?! )/g, ';')
      .replace('fish|soy', '"fish;soy"'),
  );
  t.match(await send(swapped.join('\n')), unchanged, 'semicolons between the cells');
  t.match(await send(rows.map((row) => row.replaceAll(/,(?! )/g, '\t')).join('\n')), unchanged, 'tabs');
});

t.test('rows may come in any order; that of categories, and of items within each, counts', async (t) => {
  const { send, stored } = await makeEmptyMenu();
  const columns = 'price,name,record,external_id,category_external_id,is_active';
  const rows = [
    '5,B,item,B,Y,',
    ',Second,category,,Y,',
    '6,A,item,A,X,',
    ',First,category,,X,',
    '4,C,item,C,Y,',
    ',Lunch,menu,,,FALSE',
  ];
  t.equal((await send([columns, ...rows].join('\n'))).status, 200);
  t.match(await stored(), {
    name: 'Lunch',
    is_active: false,
    categories: [
      { name: 'Second', items: [{ name: 'B' }, { name: 'C' }] },
      { name: 'First', items: [{ name: 'A' }] },
    ],
  });
});

t.test('a column that is absent keeps what is stored; an empty cell clears what can be empty', async (t) => {
  const { menu_id, send, stored } = await makeEmptyMenu();
  const category = await makeCategory(api, menu_id, { external_id: 'N', description: 'Two.' });
  const full = {
    external_id: 'S',
    description: 'Fresh.',
    photo_url: 'https://images.example.com/s.jpg',
    allergens: ['fish'],
    dietary_tags: ['raw'],
    is_available: false,
    unavailable_until: '2099-01-01T00:00:00.000Z',
  };
  await makeItem(api, category, full);
  const events = await followEvents(database);
  t.equal(
    (await send(`${header.replace(',allergens', '')}\ncategory,N,,Nigiri,\nitem,N,S,Salmon,9`)).status,
    200,
  );
  t.match((await stored()).categories, [{ description: 'Two.', items: [{ ...full, price: 9 }] }]);
  t.match(await events.next(), [{ type: 'item.updated', previous: { price: 4.5 } }]);

  const all =
    'record,category_external_id,external_id,description,photo_url,allergens,dietary_tags,is_available,unavailable_until';
  t.equal((await send(`${all}\ncategory,N,,,,,,,\nitem,N,S,,,,,,`)).status, 200);
  const cleared = { description: '', photo_url: null, allergens: [], dietary_tags: [] };
  t.match((await stored()).categories, [{ description: '', items: [{ ...full, ...cleared }] }]);
  t.equal((await send(`${all}\ncategory,N,,,,,,,\nitem,N,S,,,,,false,`)).status, 200);
  t.match((await stored()).categories[0].items, [{ is_available: false, unavailable_until: null }]);
  t.equal((await send(`${all}\ncategory,N,,,,,,,\nitem,N,S,,,,,TRUE,`)).status, 200);
  t.match((await stored()).categories[0].items, [{ is_available: true }]);
});

t.test('records without an external_id are identified by their ids', async (t) => {
  const { menu_id, send, stored, path } = await makeEmptyMenu();
  const category = await makeCategory(api, menu_id);
  const item = await makeItem(api, category);
  const { text } = await api.get(path, { headers: { accept: 'text/csv' } });
  t.equal((await send(text.replace('4.5', '4.9'))).status, 200);
  const rows = [
    'record,category_id,category_external_id,item_id,external_id',
    `category,${category.category_id},N,,`,
  ];
  t.match((await stored()).categories[0].items, [{ item_id: item.item_id, price: 4.9, external_id: null }]);
  t.equal((await send([...rows, `item,,N,${item.item_id},S`].join('\n'))).status, 200);
  t.match((await stored()).categories, [
    {
      category_id: category.category_id,
      external_id: 'N',
      items: [{ item_id: item.item_id, external_id: 'S' }],
    },
  ]);
});

t.test('every error in a file is listed with its line and column, and nothing is applied', async (t) => {
  const { faults, stored } = await makeEmptyMenu();
  const before = await stored();
  const rows = [
    'record,category_external_id,category_id,external_id,item_id,name,price,photo_url,allergens,is_active,is_available,unavailable_until',
    'category,N,,,,Nigiri,,,,,,',
    'item,N,,S,,Salmon,4.999,,fish,,,',
    'item,N,,"two\r\nlines",,Tuna,five,,,,,',
    'item,N,,S,,Salmon,1,,,,,',
    '',
    'item,Q,,Q1,, ,-1,,,,,',
    'item,,,Q2,,Eel,1,,,,,',
    'item,,77,Q3,,Eel,1,,,,,',
    'dish,N,,D,,Eel,1,,,,,',
    'item,N,,,,Nameless,1,,,,,',
    'item,N,,,x7,Odd,1,,,,,',
    'item,N,,,999999999,Foreign,1,,,,,',
    'category,R,,,,Rolls,3,,,,,',
    'category,N,,,,Twice,,,,,,',
    'item,N,,F,,F,1,ftp://x,";a;a",,perhaps,2001-01-01T00:00:00Z',
    'menu,,,,,One,,,,,,',
    'menu,,,,,Two,,,,,,',
    'item,N,,G,,G,1,,,,,,,surplus',
    'item,N,,H,,H,,,"""open",,,',
  ];
  t.strictSame(await faults(rows.join('\r\n')), [
    'line 3, price: precision',
    'line 4, price: type',
    'line 6, external_id: duplicate',
    'line 8, category_external_id: not_found',
    'line 8, name: characters',
    'line 8, price: too_small',
    'line 9, category_external_id: required',
    'line 10, category_id: not_found',
    'line 11, record: enum',
    'line 12, external_id: required',
    'line 13, item_id: type',
    'line 13, item_id: not_found',
    'line 14, item_id: not_found',
    'line 15, price: unknown',
    'line 16, category_external_id: duplicate',
    'line 17, photo_url: characters',
    'line 17, allergens: too_short',
    'line 17, allergens: characters',
    'line 17, allergens: duplicate',
    'line 17, is_available: type',
    'line 17, unavailable_until: past',
    'line 19, record: duplicate',
    'line 20: too_many',
    'line 21, price: type',
    'line 21, allergens: type',
  ]);
  t.strictSame(await stored(), before);
});

t.test('errors in the columns are reported on the first line', async (t) => {
  const { faults } = await makeEmptyMenu();
  t.strictSame(await faults(''), ['line 1: required']);
  t.strictSame(await faults('\n\n'), ['line 1: required']);
  t.strictSame(await faults('name,price\nx,1'), ['line 1, record: required']);
  t.strictSame(await faults(`${header},colour,name\n${nigiri}\nitem,N,S,Salmon,x,`), [
    'line 1, colour: unknown',
    'line 1, name: duplicate',
    'line 3, price: type',
  ]);
  t.strictSame(
    await faults(`\n${header},,\n${nigiri},,\nitem,N,S,Salmon,1,,,x`),
    ['line 4: too_many'],
    'nameless columns',
  );
  t.strictSame(await faults(`${header},toString\n${nigiri}`), ['line 1, toString: unknown']);
});

t.test('a file that is not CSV is refused with the line where it stops being CSV', async (t) => {
  const { faults, send } = await makeEmptyMenu();
  t.strictSame(await faults(`${header}\n${nigiri}\nitem,N,S,Sal"mon,x,`), ['line 3: csv']);
  t.strictSame(await faults(`${header}\n${nigiri}\nitem,N,S,Salmon,x,\nitem,N,T,"Tuna,5,`), [
    'line 3, price: type',
    'line 4: csv',
  ]);
  t.strictSame(await faults(`${header}\ncategory,N,,"a\r\nb",,\nitem,N,T,"Tuna" fresh,5,`), [
    'line 2, name: characters',
    'line 4: csv',
  ]);
  for (const body of [
    Buffer.from([0xff, 0xfe, 0x41]),
    Buffer.from(`${header}\n`, 'utf16le'),
    Buffer.from('caf\xe9', 'latin1'),
  ]) {
    t.match(await send(body), { status: 422 });
  }
  t.match((await send(Buffer.from('caf\xe9', 'latin1'))).body.errors, [{ field: '', code: 'csv' }]);
  t.equal((await send(header, 'text/csv; charset=iso-8859-1')).status, 415);
  t.equal((await send(header, 'text/tab-separated-values')).status, 415);
  const asJson = await send(JSON.stringify(`${header}\n${nigiri}`), 'application/json');
  t.match(asJson.body.errors, [{ field: '', code: 'type' }], 'CSV within JSON is no document');
});

t.test('text that looks like a formula comes back as it was, with or without its apostrophe', async (t) => {
  const { send, stored } = await makeEmptyMenu();
  const names = ['=1+1', "'=1+1", "''=1+1", '+1', '-1', '@a', "'quoted'"];
  const rows = names.map((name, index) => `item,N,I${index},${/^'*[=+\-@]/.test(name) ? "'" : ''}${name},1,`);
  await send([header, nigiri, ...rows].join('\n'));
  const shown = async () => (await stored()).categories[0].items.map(({ name }: { name: string }) => name);
  t.strictSame(await shown(), names);
  await send([header, nigiri, 'item,N,I0,=2+2,1,', 'item,N,I1,-5,1,-a;-b'].join('\n'));
  t.strictSame(await shown(), ['=2+2', '-5'], 'a file made elsewhere need not guard');
  t.strictSame((await stored()).categories[0].items[1].allergens, ['-a', '-b']);
});

t.test('a price may have a decimal comma only where semicolons separate the cells', async (t) => {
  const { send, faults, stored } = await makeEmptyMenu();
  const columns = 'record;category_external_id;external_id;name;price';
  const file = (...prices: string[]) =>
    [columns, 'category;N;;Nigiri;', ...prices.map((price, at) => `item;N;I${at};X;${price}`)].join('\n');
  t.equal((await send(file('4,50', '4.5', '12', ' 0,99 ', '"1,5"'))).status, 200);
  const prices = (await stored()).categories[0].items.map(({ price }: { price: number }) => price);
  t.strictSame(prices, [4.5, 4.5, 12, 0.99, 1.5]);
  t.strictSame(await faults(file('1.234,50', '1,234.50', '4,5,0', ',5', '4,', '-1,5', '1 234,50', '4,505')), [
    'line 3, price: type',
    'line 4, price: type',
    'line 5, price: type',
    'line 6, price: type',
    'line 7, price: type',
    'line 8, price: too_small',
    'line 9, price: type',
    'line 10, price: precision',
  ]);
  const others = file('4,50').replaceAll(';', '\t');
  t.strictSame(await faults(others), ['line 3, price: type'], 'tabs');
  t.strictSame(await faults(`${header}\n${nigiri}\nitem,N,S,Salmon,"4,50",`), ['line 3, price: type']);
  const ids = 'record;category_external_id;item_id;price\ncategory;N;;\nitem;N;1,0;5';
  const noId = ['line 3, item_id: type', 'line 3, item_id: not_found'];
  t.strictSame(await faults(ids), noId, 'an id is no decimal');
});

t.test(
  'an external_id is text: 0012 is not 12, and the dry run names what would be created again',
  async (t) => {
    const { path, send, stored } = await makeEmptyMenu();
    const categories = ['category,007,,Drinks,,', 'category,X,,Other,,'];
    const items = [
      'item,007,0012,Tea,1,',
      'item,007,1e3,Coffee,2,',
      'item,X,A 1,Water,3,',
      'item,X,B,Same,4,',
    ];
    t.equal((await send([header, ...categories, ...items, 'item,X,C,Same,4,'].join('\n'))).status, 200);
    const before = await stored();
    t.match(
      before.categories.map(({ external_id }: { external_id: string }) => external_id),
      ['007', 'X'],
    );
    const { text } = await api.get(path, { headers: { accept: 'text/csv' } });
    t.match(text, ',0012,');
    t.match((await send(text)).body.data, {
      items: { unchanged: 5, recreated: [] },
      categories: { recreated: [] },
    });

    const again = [
      'item,7,12,Tea,1,',
      'item,7,1000,Coffee,2,',
      'item,X,a1,Still water,3,',
      'item,X,D,Same,4,',
    ];
    const file = [header, 'category,7,,Drinks,,', 'category,X,,Other,,', ...again, 'item,X,E,New,5,'].join(
      '\n',
    );
    const dry = await api.call('PUT', `${path}?dry_run=true`, {
      body: file,
      headers: { 'content-type': 'text/csv' },
    });
    t.equal(dry.status, 200);
    const [drinks, other] = before.categories;
    const named = (list: { item_id: number; name: string }[], name: string) =>
      list.find((item) => item.name === name)?.item_id;
    const { data } = dry.body;
    t.strictSame(data.categories.recreated, [
      { category_id: drinks.category_id, external_id: '007', new_external_id: '7', name: 'Drinks' },
    ]);
    t.strictSame(data.items.recreated, [
      { item_id: named(drinks.items, 'Tea'), external_id: '0012', new_external_id: '12', name: 'Tea' },
      { item_id: named(drinks.items, 'Coffee'), external_id: '1e3', new_external_id: '1000', name: 'Coffee' },
      {
        item_id: named(other.items, 'Water'),
        external_id: 'A 1',
        new_external_id: 'a1',
        name: 'Still water',
      },
      { item_id: named(other.items, 'Same'), external_id: 'B', new_external_id: 'D', name: 'Same' },
    ]);
    t.equal(data.items.created.length, 5);
    t.equal(data.items.deleted.length, 5, 'they are deleted all the same');
    t.match(await stored(), before, 'and a dry run does nothing');
    t.strictSame((await send(file)).body.data.items.recreated, data.items.recreated);
  },
);
