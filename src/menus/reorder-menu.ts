import { sql } from 'kysely';
import { reachOf, requireReach, withinReach } from '../accounts/reach.ts';
import { categoryJson, changedCategory } from '../categories/category.ts';
import type { Database } from '../db/database.ts';
import { build, statement } from '../db/statement.ts';
import { recordEvents } from '../events/record.ts';
import { acceptedTags, requireMatch } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { data } from '../http/json.ts';
import { ok } from '../http/reply.ts';
import { changedItem, storedItemJson } from '../items/item.ts';
import { type MenuKey, requireMenu, touchMenus } from './menu.ts';
import { selectMenuDetail, selectMenuTag } from './menu-detail.ts';
import { type Moves, movesTo, type Places } from './order.ts';

/**
 * Sets the whole order of a menu, in one transaction: the order can be compared with the menu only once nobody else
 * can change it. That is so when the menu is locked, since every write inside it locks it too.
 */
export async function reorderMenu(call: Call<'reorderMenu'>): Promise<Reply<'reorderMenu'>> {
  const { database, params, body, caller, headers, requestId, eventCommitted } = call;
  const key = { ...params, ...reachOf(caller) };
  const { row, hasMoved } = await database.transaction().execute(async (transaction) => {
    const places = await lockPlaces(transaction, key);
    await requireMenu(transaction, params.menu_id, caller);
    await requireTag(transaction, key, acceptedTags(headers['if-match']));
    const moves = movesTo(body.categories, places);
    const hasMoved = moves.categories.length + moves.items.length > 0;
    if (hasMoved) await move(transaction, { ...key, ...columnsOf(moves), request_id: requestId });
    const [row] = await selectMenuDetail(transaction, key);
    return { row, hasMoved };
  });
  if (hasMoved) eventCommitted();
  const { menu, etag } = requireReach(row, 'menu');
  return ok(data(menu), { ETag: etag });
}

/** Locks the menu and all in it, in the order that touchMenus tells of. */
async function lockPlaces(transaction: Database, key: MenuKey): Promise<Places> {
  const categories = await lockCategories(transaction, key);
  const items = await lockItems(transaction, key);
  await lockMenu(transaction, key);
  return {
    categories: new Map(categories.map((place) => [place.category_id, place])),
    items: new Map(items.map((place) => [place.item_id, place])),
  };
}

async function requireTag(transaction: Database, key: MenuKey, accepted: string[] | null): Promise<void> {
  const [current] = accepted ? await selectMenuTag(transaction, key) : [];
  if (current) requireMatch(accepted, current.etag);
}

const lockCategories = statement<MenuKey, { category_id: number; sort_order: number }>((p) =>
  build
    .selectFrom('category')
    .select(['category_id', 'sort_order'])
    .where('menu_id', '=', p('menu_id', 'bigint'))
    .where(withinReach(p, 'category'))
    .orderBy('category_id')
    .forNoKeyUpdate(),
);

const lockItems = statement<MenuKey, { item_id: number; category_id: number; sort_order: number }>((p) =>
  build
    .selectFrom('item')
    .select(['item_id', 'category_id', 'sort_order'])
    .where('menu_id', '=', p('menu_id', 'bigint'))
    .where(withinReach(p, 'item'))
    .orderBy('item_id')
    .forNoKeyUpdate(),
);

const lockMenu = statement<MenuKey, { menu_id: number }>((p) =>
  build
    .selectFrom('menu')
    .select('menu_id')
    .where('menu_id', '=', p('menu_id', 'bigint'))
    .where(withinReach(p, 'menu'))
    .forNoKeyUpdate(),
);

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
