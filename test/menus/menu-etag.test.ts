import { CompiledQuery, sql } from 'kysely';
import t from 'tap';
import type { Database } from '../../src/db/database.ts';
import { makeCategory, makeItem, makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

t.test('the ETag of a menu changes with anything inside it, and only then', async (t) => {
  const { api } = await startTestService(t);
  const { menu, category, item } = await makeTree(api);
  const other = await makeCategory(api, menu.menu_id);
  const gone = await makeItem(api, other);
  const path = `/menus/${menu.menu_id}`;
  const itemPath = `${path}/items/${item.item_id}`;
  const order = (first: number, second: number) => ({
    categories: [
      { category_id: first, items: first === category.category_id ? [item.item_id] : [] },
      { category_id: second, items: second === category.category_id ? [item.item_id] : [] },
    ],
  });
  const changes: [string, () => Promise<unknown>][] = [
    ['updateMenu', () => api.put(path, { name: 'Lunch' })],
    ['toggleMenu', () => api.post(`${path}/toggle`)],
    ['createCategory', () => makeCategory(api, menu.menu_id, { external_id: 'NEW' })],
    ['updateCategory', () => api.put(`${path}/categories/${other.category_id}`, { name: 'Soups' })],
    ['createItem', () => makeItem(api, other)],
    ['updateItem', () => api.put(itemPath, { price: 7 })],
    ['toggleItem', () => api.post(`${itemPath}/toggle`)],
    [
      'setAvailability',
      () => api.post(`${path}/availability`, { items: [{ item_id: item.item_id, is_available: true }] }),
    ],
    ['deleteItem', () => api.delete(`${path}/items/${gone.item_id}`)],
    ['deleteCategory', () => api.delete(`${path}/categories/${other.category_id}`)],
  ];
  const nothings: [string, () => Promise<unknown>][] = [
    ['updateMenu', () => api.put(path, { name: 'Lunch' })],
    ['updateItem', () => api.put(itemPath, { price: 7 })],
    [
      'setAvailability',
      () => api.post(`${path}/availability`, { items: [{ item_id: item.item_id, is_available: true }] }),
    ],
    ['a write of another menu', () => makeTree(api)],
    ['a refused write', () => api.put(itemPath, { category_id: 9_000_000 })],
  ];
  const seen = new Set<string>();
  const read = async () => {
    const { headers, text } = await api.get(path);
    return { etag: String(headers['etag']), text };
  };
  seen.add((await read()).etag);
  for (const [name, change] of changes) {
    await change();
    const { etag } = await read();
    t.notOk(seen.has(etag), name);
    seen.add(etag);
  }
  for (const [name, nothing] of nothings) {
    const before = await read();
    await nothing();
    t.strictSame(await read(), before, name);
  }
  const [first, second] = (await api.get(path)).body.data.categories;
  await api.put(`${path}/order`, order(second.category_id, first.category_id));
  t.notOk(seen.has((await read()).etag), 'reorderMenu');
});

t.test('after an acknowledged write nobody gets a 304 for the state before it', async (t) => {
  const { api } = await startTestService(t);
  const { menu, category } = await makeTree(api);
  const path = `/menus/${menu.menu_id}`;
  const texts = new Map<string, string>();
  let stale = 0;
  let reads = 0;

  const writer = async () => {
    const { item_id } = await makeItem(api, category);
    for (let round = 0; round < 15; round++) {
      const before = String((await api.get(path)).headers['etag']);
      const write =
        round % 2
          ? api.post(`${path}/items/${item_id}/toggle`)
          : api.post(`${path}/availability`, {
              items: [{ item_id, is_available: false }],
            });
      if ((await write).status !== 200) throw new Error('not written');
      const responses = await Promise.all(
        [1, 2, 3].map(() => api.get(path, { headers: { 'if-none-match': before } })),
      );
      stale += responses.filter(({ status }) => status === 304).length;
    }
  };
  const reader = async (done: Promise<unknown>) => {
    let open = true;
    done.finally(() => {
      open = false;
    });
    while (open) {
      const { headers, text } = await api.get(path);
      const etag = String(headers['etag']);
      if (texts.has(etag)) t.equal(text, texts.get(etag), `one text under ${etag}`);
      texts.set(etag, text);
      reads++;
    }
  };
  const writers = Promise.all(Array.from({ length: 5 }, writer));
  await Promise.all([writers, reader(writers), reader(writers)]);
  t.equal(stale, 0);
  t.ok(reads > 10 && texts.size > 10, `${reads} reads saw ${texts.size} states`);
});

t.test('a 304 costs a look-up by primary key', async (t) => {
  const { api, database } = await startTestService(t, { connect: async (one) => ({ ...one, max: 1 }) });
  const { menu, category } = await makeTree(api);
  await sql`insert into menu (account_id, location_id, name, sort_order)
    select account_id, location_id, 'Menu ' || place, place from menu, generate_series(1, 2000) as place
    where menu_id = ${menu.menu_id}`.execute(database);
  await sql`insert into item (account_id, location_id, menu_id, category_id, name, price, sort_order)
    select account_id, location_id, menu_id, category_id, 'Dish ' || place, 1, place
    from category, generate_series(1, 2000) as place where category_id = ${category.category_id}`.execute(
    database,
  );
  await database.executeQuery(CompiledQuery.raw('vacuum analyze menu, item'));
  const path = `/menus/${menu.menu_id}`;
  const { headers } = await api.get(path);
  const before = new Map((await namedStatements(database)).map(({ name, runs }) => [name, runs]));
  const response = await api.get(path, { headers: { 'if-none-match': String(headers['etag']) } });
  t.equal(response.status, 304);
  const [statement, ...others] = (await namedStatements(database)).filter(
    ({ name, runs }) => runs > (before.get(name) ?? 0),
  );
  t.strictSame(others, [], 'one statement and no other');

  const values = `${api.credentials.account_id}, null, ${menu.menu_id}`;
  const explained = await database.executeQuery<{ 'QUERY PLAN': string }>(
    CompiledQuery.raw(`explain (analyze, buffers, format json) execute "${statement?.name}"(${values})`),
  );
  const [{ Plan: plan }] = JSON.parse(explained.rows[0]?.['QUERY PLAN'] ?? '');
  t.strictSame(
    scansOf(plan),
    [
      'Index Only Scan of item, 0 rows',
      'Index Scan of modifier, 0 rows',
      'Index Scan of modifier_group, 0 rows',
      'Index Scan of menu, 1 rows',
    ],
    'the first two tell which items and modifiers are back since the last write',
  );
  t.ok(plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] <= 8, 'pages touched');
});

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  Plans?: Plan[];
}

function scansOf(plan: Plan): string[] {
  const below = (plan.Plans ?? []).flatMap(scansOf);
  const relation = plan['Relation Name'];
  return relation ? [...below, `${plan['Node Type']} of ${relation}, ${plan['Actual Rows']} rows`] : below;
}

/** The statements that the service has prepared on its only connection, and how often each was run. */
async function namedStatements(database: Database): Promise<{ name: string; runs: number }[]> {
  const { rows } = await sql<{ name: string; runs: number }>`
    select name, generic_plans + custom_plans as runs from pg_prepared_statements where statement like '%from "menu"%'`.execute(
    database,
  );
  return rows;
}
