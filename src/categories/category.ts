import { type Expression, type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import type { Caller } from '../accounts/caller.ts';
import { type Reach, reachOf, requireReach, withinReach } from '../records/reach.ts';
import type { Database } from '../db/database.ts';
import { build, statement } from '../db/statement.ts';
import { change, type EventType, noPrevious } from '../records/write.ts';
import { type AnyJson, columns, created, type Json, jsonObject, rfc3339 } from '../db/json.ts';
import { type Item, itemJson, itemTag } from '../items/item.ts';

export type Category = components['schemas']['Category'];
export type CategoryDetail = components['schemas']['CategoryDetail'];

/** Path of one category and who asks: the values that every statement on one category takes. */
export interface CategoryKey extends Reach {
  menu_id: number;
  category_id: number;
}

export function categoryKey(params: { menu_id: number; category_id: number }, caller: Caller): CategoryKey {
  return { menu_id: params.menu_id, category_id: params.category_id, ...reachOf(caller) };
}

/** A row of `category` as the API shows it, without its items. */
export function categoryJson(row = 'category'): RawBuilder<Json<Category>> {
  return jsonObject<Category>(categoryFields(row));
}

/** A row of `category` with its items in display order. */
export function categoryDetailJson(): RawBuilder<Json<CategoryDetail>> {
  const items = sql<Json<Item[]>>`(
    select coalesce(json_agg(${itemJson()} order by item.sort_order, item.item_id), '[]')
    from item where item.category_id = category.category_id)`;
  return jsonObject<CategoryDetail>({ ...categoryFields('category'), items });
}

/**
 * The ETag of a category with its items, quotes included. Item ids are never used again and versions only rise, so
 * two different states never share a tag.
 */
export function categoryTag(row = 'category'): RawBuilder<string> {
  const category = columns('category', row);
  return sql`'"' || ${category.version} || '-' || (
    select md5(coalesce(string_agg(item.item_id || ${itemTag()}, ',' order by item.item_id), ''))
    from item where item.category_id = ${category.category_id}) || '"'`;
}

/** What the CTE that writes categories returns for recordEvents; `row` is 'old' when it deletes. */
export function changedCategory(
  eventTypes: Expression<EventType[]>,
  previous: Expression<AnyJson | null> = noPrevious,
  row: 'new' | 'old' = 'new',
): ReturnType<typeof change> {
  const category = columns('category', row);
  return change({
    account_id: category.account_id,
    location_id: category.location_id,
    menu_id: category.menu_id,
    record: sql`'category:' || ${category.category_id}`,
    event_types: eventTypes,
    data: categoryJson(row),
    previous,
  });
}

/** @throws 404 or 403 when the caller finds no such category in this menu. */
export async function requireCategory(database: Database, key: CategoryKey): Promise<void> {
  const [row] = await selectReach(database, key);
  requireReach(row, 'category');
}

const selectReach = statement<CategoryKey, { within_reach: boolean }>((p) =>
  build
    .selectFrom('category')
    .select(withinReach(p, 'category').as('within_reach'))
    .where('category_id', '=', p('category_id', 'bigint'))
    .where('menu_id', '=', p('menu_id', 'bigint')),
);

function categoryFields(row: string) {
  const category = columns('category', row);
  return {
    category_id: category.category_id,
    menu_id: category.menu_id,
    name: category.name,
    description: category.description,
    sort_order: category.sort_order,
    external_id: category.external_id,
    created: created(category.created_at),
    updated_at: rfc3339(category.updated_at),
    version: category.version,
  };
}
