import { sql } from 'kysely';
import { reachOf, requireReach } from '../records/reach.ts';
import { categoryJson, changedCategory } from '../categories/category.ts';
import { build, statement } from '../db/statement.ts';
import { recordEvents } from '../records/write.ts';
import { acceptedTags, requireMatch } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { data } from '../db/json.ts';
import { ok } from '../http/reply.ts';
import { changedItem, storedItemJson } from '../items/item.ts';
import { lockStored } from './content/lock.ts';
import type { StoredMenu } from './content/stored.ts';
import { type MenuKey, requireMenu, touchMenus } from './menu.ts';
import { selectMenuDetail } from './menu-detail.ts';
import { type Moves, movesTo, type Places } from './order.ts';

/**
 * Sets the whole order of a menu, in one transaction with its events: the order can be compared with the menu only
 * while nobody else can change it.
 */
export async function reorderMenu(call: Call<'reorderMenu'>): Promise<Reply<'reorderMenu'>> {
  const { database, params, caller, eventCommitted } = call;
  for (;;) {
    await requireMenu(database, params.menu_id, caller);
    const done = await putInOrder(call);
    if (!done) continue;
    if (done.hasMoved) eventCommitted();
    return ok(data(done.menu), { ETag: done.etag });
  }
}

/** Undefined when something came into the menu, or the menu went, while it was being locked. */
async function putInOrder({ database, params, body, caller, headers, requestId }: Call<'reorderMenu'>) {
  const key = { ...params, ...reachOf(caller) };
  return database.transaction().execute(async (transaction) => {
    const stored = await lockStored(transaction, key);
    if (!stored) return undefined;
    requireMatch(acceptedTags(headers['if-match']), stored.etag);
    const moves = movesTo(body.categories, placesIn(stored));
    const hasMoved = moves.categories.length + moves.items.length > 0;
    if (hasMoved) await move(transaction, { ...key, ...columnsOf(moves), request_id: requestId });
    const [row] = await selectMenuDetail(transaction, key);
    return { ...requireReach(row, 'menu'), hasMoved };
  });
}

function placesIn({ categories, items }: StoredMenu): Places {
  return {
    categories: new Map(categories.map((category) => [category.category_id, category])),
    items: new Map(items.map((item) => [item.item_id, item])),
  };
}

interface Columns {
  category_ids: number[];
  category_orders: number[];
  item_ids: number[];
  item_categories: number[];
  item_orders: number[];
}

function columnsOf({ categories, items }: Moves): Columns {
  return {
    category_ids: categories.map(({ category_id }) => category_id),
    category_orders: categories.map(({ sort_order }) => sort_order),
    item_ids: items.map(({ item_id }) => item_id),
    item_categories: items.map(({ category_id }) => category_id),
    item_orders: items.map(({ sort_order }) => sort_order),
  };
}

const move = statement<MenuKey & Columns & { request_id: string }, { record: unknown }>((p) =>
  build
    .with('moved_category', (db) =>
      db
        .updateTable('category')
        .from(
          sql`unnest(${p('category_ids', 'bigint[]')}, ${p('category_orders', 'integer[]')})`.as(
            sql`place (category_id, sort_order)`,
          ),
        )
        .set({
          sort_order: sql`place.sort_order`,
          version: sql`category.version + 1`,
          updated_at: sql`clock_timestamp()`,
        })
        .where(sql<boolean>`category.category_id = place.category_id`)
        .where(sql<boolean>`category.account_id = ${p('account_id', 'bigint')}`)
        .returning(
          changedCategory(
            sql`array['category.updated']`,
            sql`changed_fields(${categoryJson('old')}, ${categoryJson('new')})`,
          ),
        ),
    )
    .with('moved_item', (db) =>
      db
        .updateTable('item')
        .from(
          sql`unnest(${p('item_ids', 'bigint[]')}, ${p('item_categories', 'bigint[]')},
            ${p('item_orders', 'integer[]')})`.as(sql`place (item_id, category_id, sort_order)`),
        )
        .set({
          category_id: sql`place.category_id`,
          sort_order: sql`place.sort_order`,
          version: sql`item.version + 1`,
          updated_at: sql`clock_timestamp()`,
        })
        .where(sql<boolean>`item.item_id = place.item_id`)
        .where(sql<boolean>`item.account_id = ${p('account_id', 'bigint')}`)
        .returning(
          changedItem(
            sql`array['item.updated']`,
            sql`changed_fields(${storedItemJson('old')}, ${storedItemJson('new')})`,
          ),
        ),
    )
    .with('changed', (db) =>
      db
        .selectFrom('moved_category')
        .selectAll()
        .unionAll((db) => db.selectFrom('moved_item').selectAll()),
    )
    .with('recorded', () => recordEvents('changed', p))
    .with('touched', () => touchMenus('changed'))
    .selectFrom('changed')
    .select('record'),
);
