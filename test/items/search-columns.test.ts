import { sql } from 'kysely';
import t from 'tap';
import { makeCategory, makeItem, makeLocation, makeMenu } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const { api, database } = await startTestService(t);
const { location_id } = await makeLocation(api);
const { menu_id } = await makeMenu(api, location_id);
const category = await makeCategory(api, menu_id, { external_id: 'C' });
const path = `/menus/${menu_id}/items`;
const found = async (q: string) =>
  (await api.get(`${path}?q=${encodeURIComponent(q)}`)).body.data.map(
    ({ external_id }: { external_id: string }) => external_id,
  );

/** Items whose stored text is not that of their name and description now. */
async function outdated(): Promise<unknown[]> {
  const { rows } = await sql`
    select item_id from item where menu_id = ${menu_id}
      and (searchable, searchable_of) is distinct from (search_text(name) || e'\\n' || search_text(description),
        hashtextextended(name || e'\\n' || description, 0))`.execute(database);
  return rows;
}

t.test('every write of a name or a description keeps what searches look through', async (t) => {
  const item = await makeItem(api, category, {
    external_id: 'A',
    name: ' ＳＡＬＭＯＮ ',
    description: 'Wild',
  });
  t.same([await found('salmon'), await found('wild'), await outdated()], [['A'], ['A'], []]);
  for (const body of [
    { name: 'Tuna' },
    { description: 'Lean' },
    { price: 7 },
    { name: 'Eel', description: 'Sweet' },
    { name: 'Trout', description: 'Smoked', price: 8, sort_order: 4 },
    { allergens: ['fish'], price: 9, sort_order: 5 },
  ]) {
    t.equal((await api.put(`${path}/${item.item_id}`, body)).status, 200);
    t.same(await outdated(), [], JSON.stringify(body));
  }
  t.same([await found('trout'), await found('SMOKED'), await found('salmon')], [['A'], ['A'], []]);
  const items = [
    { external_id: 'A', name: 'Char', price: 3 },
    { external_id: 'B', name: 'ΜΟΣΧΟΣ', price: 3, description: 'Veal' },
  ];
  const document = { data: { categories: [{ external_id: 'C', name: 'C', items }] } };
  t.equal((await api.put(`/menus/${menu_id}/content`, document)).status, 200);
  t.same([await found('char'), await found('μοσ'), await outdated()], [['A'], ['B'], []]);
  for (const one of items) one.price = 4;
  t.equal((await api.put(`/menus/${menu_id}/content`, document)).status, 200);
  t.same([await found('char'), await outdated()], [['A'], []]);
});

t.test('a text that the previous release has changed, or nobody has filled in, is found too', async (t) => {
  await sql`update item set name = 'Cod' where external_id = 'A' and menu_id = ${menu_id}`.execute(database);
  t.same([await found('cod'), await found('char')], [['A'], []]);
  await sql`update item set searchable = null, searchable_of = null where menu_id = ${menu_id}`.execute(
    database,
  );
  t.same([await found('cod'), await found('μοσ')], [['A'], ['B']]);
});

t.test('no match begins in the name and ends in the description', async (t) => {
  await makeItem(api, category, { external_id: 'D', name: 'Red', description: 'bean' });
  t.same(
    [await found('d b'), await found('dbean'), await found('red bean'), await found('bean')],
    [[], [], [], ['D']],
  );
});
