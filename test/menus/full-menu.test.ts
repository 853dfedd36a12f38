import { sql } from 'kysely';
import t from 'tap';
import { makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const { api, database } = await startTestService(t);
const full = { status: 422, body: { errors: [{ field: '', code: 'too_many' }] } };
type Responses = Awaited<ReturnType<typeof api.post>>[];
const statuses = (responses: Responses) => responses.map(({ status }) => status).sort();
const repeated = (status: number, times: number) => Array<number>(times).fill(status);

t.test(
  'of many items created at once in a nearly full menu, as many are accepted as there is room for',
  async (t) => {
    const { menu, category } = await makeTree(api);
    await addItems(category, 9_983);
    const create = (n: number) =>
      api.post(
        `/menus/${menu.menu_id}/items`,
        { category_id: category.category_id, name: `Late ${n}`, price: 1 },
        n % 3 === 0 ? { headers: { 'idempotency-key': `late-${n}` } } : {},
      );
    const responses = await Promise.all(Array.from({ length: 40 }, (_, n) => create(n)));
    t.strictSame(statuses(responses), [...repeated(201, 16), ...repeated(422, 24)]);
    for (const response of responses.filter(({ status }) => status === 422)) t.match(response, full);
    t.equal(await count('item', menu), 10_000);
    t.equal(await events(menu), 16 + 3, 'a refused item has no event');

    const path = `/menus/${menu.menu_id}/items`;
    const refused = responses.findIndex(({ status }, n) => status === 422 && n % 3 === 0);
    t.ok(refused >= 0);
    const [first] = (await api.get(`${path}?limit=1`)).body.data;
    t.equal((await api.delete(`${path}/${first.item_id}`)).status, 204);
    t.match(await create(refused), full, 'a repeat gets the first response');
    t.equal((await create(41)).status, 201, 'what goes makes room');
    t.match(await create(43), full);
  },
);

t.test('an import that fills the menu leaves no room for items that wait for it to end', async (t) => {
  const { menu, category, item } = await makeTree(api);
  const items = [
    { item_id: item.item_id, name: 'Salmon', price: 4.5 },
    ...Array.from({ length: 9_999 }, (_, n) => ({ external_id: `${n}`, name: `${n}`, price: 1 })),
  ];
  const { category_id, name } = category;
  let imported = false;
  const importing = api
    .put(`/menus/${menu.menu_id}/content`, { data: { categories: [{ category_id, name, items }] } })
    .finally(() => {
      imported = true;
    });
  const responses: Responses = [];
  const creators = Array.from({ length: 4 }, async () => {
    while (!imported)
      responses.push(await api.post(`/menus/${menu.menu_id}/items`, { category_id, name: 'Late', price: 1 }));
  });
  t.equal((await importing).status, 200);
  await Promise.all(creators);
  t.equal(await count('item', menu), 10_000);
  t.match(responses.at(-1), full);
});

t.test('the same holds for the 1,000 categories of a menu', async (t) => {
  const { menu } = await makeTree(api);
  await sql`
    insert into category (account_id, location_id, menu_id, name, sort_order)
    select account_id, location_id, menu_id, 'More', n
    from menu, generate_series(1, 994) as n where menu_id = ${menu.menu_id}`.execute(database);
  const create = () => api.post(`/menus/${menu.menu_id}/categories`, { name: 'Late' });
  const responses = await Promise.all(Array.from({ length: 12 }, create));
  t.strictSame(statuses(responses), [...repeated(201, 5), ...repeated(422, 7)]);
  t.equal(await count('category', menu), 1_000);
  t.match(await create(), full);
  const whole = await api.get(`/menus/${menu.menu_id}`);
  t.equal(whole.body.data.categories.length, 1_000, 'the contract has no menu of more');
});

async function addItems(category: { category_id: number }, more: number): Promise<void> {
  await sql`
    insert into item (account_id, location_id, menu_id, category_id, name, price, sort_order)
    select account_id, location_id, menu_id, category_id, 'More', 1, n
    from category, generate_series(1, ${more}) as n where category_id = ${category.category_id}`.execute(
    database,
  );
}

async function count(table: 'item' | 'category', { menu_id }: { menu_id: number }): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) from ${sql.table(table)} where menu_id = ${menu_id}`.execute(database);
  return Number(rows[0]?.count);
}

async function events({ menu_id }: { menu_id: number }): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) from event where menu_id = ${menu_id}`.execute(database);
  return Number(rows[0]?.count);
}
