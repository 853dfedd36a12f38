import t from 'tap';
import { startTestService } from '../support/service.ts';

const { api } = await startTestService(t);
const { menu_id } = (await api.get('/menus')).body.data[0];
const { item_id } = (await api.get(`/menus/${menu_id}/items`)).body.data[0];
const menu = `/menus/${menu_id}`;
const path = `${menu}/items/${item_id}`;

const names = [
  'Crème brûlée',
  'Cre\u0300me bru\u0302le\u0301e', // the same decomposed, which stays decomposed
  '鮭の握り寿司',
  'ＳＡＬＭＯＮ ﾆｷﾞﾘ',
  '𠮷野家の𩸽',
  '김치찌개',
  'سمك السلمون المشوي',
  'פלאפל עם טחינה',
  'मसाला डोसा',
  'ต้มยำกุ้ง',
  'Μουσακάς',
  'Борщ з пампушками',
  'ሽሮ ወጥ',
  'Phở bò tái',
  'İstanbul ıslak ßẞ',
  '👩‍🍳🏴󠁧󠁢󠁷󠁬󠁳󠁿🍣',
  'Zero\u200bwidth\u200djoiner\u2060',
  'Line\u2028separator',
  'Byte\ufeffmark',
  `"Two" 'one' \`back\` back\\slash sl/ash`,
  '</script><b>&amp;&#0;</b>',
  "'; drop table item; --",
  '$1 %s {{7*7}}',
  '\ufffd\ufffe\uffff',
];

t.test('text of every script comes back as it was sent, byte for byte', async (t) => {
  for (const [index, name] of names.entries()) {
    const description = `${name}\r\n\tand\nmore\u007f`;
    const fields = { name, description, external_id: name, allergens: [name], dietary_tags: [name] };
    t.equal((await api.put(path, { description: `${name}\u0001` })).status, 422, 'takes six bytes in JSON');
    const response = await api.put(path, fields);
    t.equal(response.status, 200, `text ${index}`);
    for (const { body } of [response, await api.get(path)]) {
      t.strictSame(Object.fromEntries(Object.keys(fields).map((key) => [key, body.data[key]])), fields);
    }
    const found = await api.get(`${menu}/items?external_id=${encodeURIComponent(name)}`);
    t.equal(found.body.data[0]?.name, name, 'and is found by it');
    const tagged = await api.get(`${menu}/items?dietary_tag=${encodeURIComponent(name)}`);
    t.equal(tagged.body.data[0]?.name, name);
    const searched = await api.get(`${menu}/items?q=${encodeURIComponent(name)}`);
    t.equal(searched.body.data[0]?.name, name);
  }
});

t.test('lengths count characters, not bytes or code units', async (t) => {
  for (const character of ['x', 'é', '鮭', '🍣']) {
    t.equal(
      (await api.put(path, { name: character.repeat(255) })).status,
      200,
      `${Buffer.byteLength(character)} bytes`,
    );
    t.equal((await api.put(path, { name: character.repeat(256) })).status, 422);
    t.equal((await api.put(path, { description: character.repeat(4096) })).status, 200);
    t.equal((await api.put(path, { description: character.repeat(4097) })).status, 422);
    t.equal((await api.put(path, { allergens: [character.repeat(40)] })).status, 200);
    t.equal((await api.put(path, { allergens: [character.repeat(41)] })).status, 422);
  }
});

t.test('blank names and control characters in them are refused', async (t) => {
  const refused = [
    '',
    ' ',
    '\u3000',
    '\u00a0\u2003',
    'a\nb',
    'a\tb',
    'a\u0000b',
    'a\u007fb',
    'a\u0085b',
    '\ud83c',
  ];
  for (const name of refused) {
    const response = await api.put(path, { name });
    t.match(response, { status: 422, body: { errors: [{ field: '/name' }] } }, JSON.stringify(name));
    t.equal((await api.put(path, { allergens: [name] })).status, 422);
  }
});
