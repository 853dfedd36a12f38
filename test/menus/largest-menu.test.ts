import { sql } from 'kysely';
import t from 'tap';
import { type DistantCall, distantClient } from '../support/distant-client.ts';
import { longestSlices } from '../support/longest-slices.ts';
import { makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

// What a request beside it may wait, in ms of processor time.
const longestWait = 50;
const mebibyte = 1_048_576;

t.test('no call on the largest menu that can be imported keeps another request waiting', async (t) => {
  const service = await startTestService(t);
  const { api, database } = service;
  const { menu, item } = await makeTree(api);
  await fill(menu.menu_id);
  const call = distantClient(t, { url: service.url, token: await api.token() });
  const slices = longestSlices(t);
  const path = `/menus/${menu.menu_id}`;
  const order = await orderOf(menu.menu_id);
  const turned = order.map(({ category_id, items }) => ({ category_id, items: items.toReversed() }));
  const reorder = (categories: object[]): DistantCall => ({
    method: 'PUT',
    path: `${path}/order`,
    body: JSON.stringify({ categories }),
  });
  const csv = { accept: 'text/csv' };
  const toggle = { method: 'POST', path: `${path}/items/${item.item_id}/toggle` } as const;
  // Bytes of a response that holds the whole menu.
  const wide = 12 * mebibyte;
  const cases: Record<string, { calls: DistantCall[]; least: number }> = {
    'an export as JSON': { calls: [{ method: 'GET', path: `${path}/content` }], least: wide },
    'an export as CSV': { calls: [{ method: 'GET', path: `${path}/content`, headers: csv }], least: wide },
    'all of it as CSV': {
      calls: [{ method: 'GET', path: `${path}/content?availability=true`, headers: csv }],
      least: wide,
    },
    'a new order': { calls: [reorder(turned), reorder(order)], least: wide },
    'the order that it has': { calls: [reorder(order)], least: wide },
    'an order that leaves out all items': {
      calls: [reorder(order.map(({ category_id }) => ({ category_id, items: [] })))],
      least: 1_000,
    },
    'a read': { calls: [toggle, { method: 'GET', path }], least: 200 },
    'the largest page': { calls: [{ method: 'GET', path: `${path}/items?limit=1000` }], least: mebibyte },
  };
  for (const [what, { calls: some, least }] of Object.entries(cases)) {
    // What a call costs it costs each time; a collection of garbage comes now and then.
    const waits: number[] = [];
    for (let tries = 0; tries < 15 && !(Math.min(...waits) <= longestWait); tries += 1) {
      let longest = 0;
      for (const one of some) {
        slices.takeLongest();
        const { status, bytes } = await call(one);
        longest = Math.max(longest, slices.takeLongest());
        if (bytes < least) t.fail(`${what}: ${status}, ${bytes} bytes`);
      }
      waits.push(longest);
    }
    const wait = Math.min(...waits);
    t.comment(`${what}: ${waits.map(Math.round).join(', ')} ms`);
    t.ok(wait <= longestWait, `${what}: the process was held for ${wait.toFixed(0)} ms`);
  }

  /** As many records as a menu may have, which are as much as an import may be. */
  async function fill(menu_id: number): Promise<void> {
    await sql`
      insert into category (account_id, location_id, menu_id, name, sort_order)
      select account_id, location_id, menu_id, 'More', n
      from menu, generate_series(1, 999) as n where menu_id = ${menu_id}`.execute(database);
    await sql`
      insert into item (account_id, location_id, menu_id, category_id, name, description, price, photo_url, allergens,
        sort_order)
      select account_id, location_id, menu_id, categories[n % 1000 + 1], '握り ' || n, 'Two pieces, "hand-pressed".', 1,
        'https://example.com/' || repeat('photo/', 200) || n, '{fish,soy,wheat}', n
      from (select account_id, location_id, menu_id, array_agg(category_id order by category_id) as categories
          from category where menu_id = ${menu_id} group by account_id, location_id, menu_id) as menu,
        generate_series(1, 9999) as n`.execute(database);
  }

  async function orderOf(menu_id: number): Promise<{ category_id: number; items: number[] }[]> {
    const { rows } = await sql<{ category_id: number; items: string }>`
      select category_id, coalesce(json_agg(item_id order by item.sort_order, item_id)
        filter (where item_id is not null), '[]') as items
      from category left join item using (category_id)
      where category.menu_id = ${menu_id} group by category_id, category.sort_order
      order by category.sort_order, category_id`.execute(database);
    return rows.map(({ category_id, items }) => ({
      category_id: Number(category_id),
      items: JSON.parse(items),
    }));
  }
});
