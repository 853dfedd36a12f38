import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import { columns, type Json, jsonObject, rfc3339, spacedDateTime } from '../db/json.ts';
import { shownHours } from '../hours/hours.ts';
import type { Caller } from '../http/caller.ts';
import { stamped } from '../http/conditional.ts';
import { notFound } from '../http/errors.ts';
import { type Item, itemJson, items } from '../items/item.ts';
import { externalIdTaken } from '../records/constraints.ts';
import { type Reach, reachOf } from '../records/reach.ts';
import { type RecordKind, requireRecord } from '../records/record-kind.ts';
import type { FieldTypes } from '../records/update.ts';

export type Category = components['schemas']['Category'];
export type CategoryDetail = components['schemas']['CategoryDetail'];

/** The path of one category, with what the caller may reach: the parameters of every statement on one category. */
export interface CategoryKey extends Reach {
  menu_id: number;
  category_id: number;
}

/** The key that the path of a request names, with what its caller may reach. */
export function categoryKey(params: { menu_id: number; category_id: number }, caller: Caller): CategoryKey {
  return { menu_id: params.menu_id, category_id: params.category_id, ...reachOf(caller) };
}

/** What callers may say of a category: each field is a column, here with its SQL type. */
export const categoryFields = {
  name: 'text',
  description: 'text',
  sort_order: 'integer',
  external_id: 'text',
  hours: 'jsonb',
} as const satisfies FieldTypes<components['schemas']['CategoryUpdate']>;

/** Categories that a menu may have; imports and reorders take no more. */
export const categoryLimit = 1_000;

/** The fields of a row of `category`, without its items. */
export function shownCategory(row = 'category') {
  const category = columns('category', row);
  return {
    category_id: category.category_id,
    menu_id: category.menu_id,
    name: category.name,
    description: category.description,
    sort_order: category.sort_order,
    external_id: category.external_id,
    hours: shownHours(category.hours),
    created: spacedDateTime(category.created_at),
    updated_at: rfc3339(category.updated_at),
    version: category.version,
  };
}

/** A row of `category` as the API shows it, built by the database. */
export function categoryJson(row = 'category'): RawBuilder<Json<Category>> {
  return jsonObject<Category>(shownCategory(row));
}

/** A row of `category` with its items in display order. */
export function categoryDetailJson(): RawBuilder<Json<CategoryDetail>> {
  const items = sql<Json<Item[]>>`(
    select coalesce(json_agg(${itemJson()} order by item.sort_order, item.item_id), '[]')
    from item where item.category_id = category.category_id)`;
  return jsonObject<CategoryDetail>({ ...shownCategory(), items });
}

/**
 * The ETag of a category with its items, quotes included. Item ids are never used again and versions only rise, so
 * two different states never share an ETag.
 */
export function categoryETag(row = 'category'): RawBuilder<string> {
  const category = columns('category', row);
  return sql`'"' || ${stamped(category.version, category.stamp)} || '-' || (
    select md5(coalesce(string_agg(item.item_id || ${items.eTag()}, ',' order by item.item_id), ''))
    from item where item.category_id = ${category.category_id}) || '"'`;
}

export const categories: RecordKind<CategoryKey, Category> = {
  table: 'category',
  path: ['category_id', 'menu_id'],
  json: categoryJson,
  compared: shownCategory,
  eTag: categoryETag,
  constraints: {
    category_external_id: externalIdTaken,
    category_menu: () => notFound('There is no such menu.'),
  },
};

/** @throws 404 or 403 when the caller finds no such category in this menu. */
export const requireCategory = requireRecord<CategoryKey>('categories.requireCategory', categories);
