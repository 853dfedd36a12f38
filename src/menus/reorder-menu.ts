import { sql } from 'kysely';
import { categories } from '../categories/category.ts';
import { inTransaction, patient } from '../db/database.ts';
import { build, type Param } from '../db/statement.ts';
import { acceptedETags, requireMatch } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import { items } from '../items/item.ts';
import { type MenuKey, requireMenu } from '../records/menu-reach.ts';
import { change, changedFields, raised, type Written, write, written } from '../records/write.ts';
import { lockPlaces } from './lock-content.ts';
import { menuKey } from './menu.ts';
import { readMenuBody } from './menu-body.ts';
import { type Moves, movesTo } from './order.ts';

/**
 * Sets the whole order of a menu, in one transaction with its events: the order can be compared with the menu only
 * while nobody else can change it.
 */
export async function reorderMenu(call: Call<'reorderMenu'>): Promise<Reply<'reorderMenu'>> {
  const { database, params, caller } = call;
  for (;;) {
    await requireMenu(database, menuKey(params, caller));
    const menu = await putInOrder(call);
    if (menu) return ok(menu.body, { ETag: menu.etag });
  }
}

/** Undefined when something came into the menu, or the menu went, while it was being locked. */
async function putInOrder({ database, params, body, caller, headers, requestId }: Call<'reorderMenu'>) {
  const key = menuKey(params, caller);
  return inTransaction(patient(database), async (transaction) => {
    const places = await lockPlaces(transaction, key);
    if (!places) return undefined;
    requireMatch(acceptedETags(headers['if-match']), places.etag);
    const moves = movesTo(body.categories, places);
    if (moves.categories.length + moves.items.length > 0) {
      await move(transaction, { ...key, ...columnsOf(moves), ...written(requestId) });
    }
    return readMenuBody(transaction, key.menu_id);
  });
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

const move = write(
  'menus.reorderMenu',
  (p: Param<MenuKey & Columns & Written>) => [
    build
      .updateTable('category')
      .from(
        sql`unnest(${p('category_ids', 'bigint[]')}, ${p('category_orders', 'integer[]')})`.as(
          sql`place (category_id, sort_order)`,
        ),
      )
      .set({
        sort_order: sql`place.sort_order`,
        ...raised(p, 'category'),
      })
      .where(sql<boolean>`category.category_id = place.category_id`)
      .where(sql<boolean>`category.account_id = ${p('account_id', 'bigint')}`)
      .returning(change(categories, 'category.updated', { previous: changedFields(categories) })),
    build
      .updateTable('item')
      .from(
        sql`unnest(${p('item_ids', 'bigint[]')}, ${p('item_categories', 'bigint[]')},
          ${p('item_orders', 'integer[]')})`.as(sql`place (item_id, category_id, sort_order)`),
      )
      .set({
        category_id: sql`place.category_id`,
        sort_order: sql`place.sort_order`,
        ...raised(p, 'item'),
      })
      .where(sql<boolean>`item.item_id = place.item_id`)
      .where(sql<boolean>`item.account_id = ${p('account_id', 'bigint')}`)
      // A move does not concern the availability, so neither do its old values.
      .returning(change(items, 'item.updated', { previous: changedFields(items) })),
  ],
  ['record'],
);
