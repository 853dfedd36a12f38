import { type Expression, type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import { change, type EventType, noPrevious } from '../events/record.ts';
import { type AnyJson, columns, created, type Json, jsonObject, rfc3339 } from '../http/json.ts';

export type Category = components['schemas']['Category'];

/** A row of `category` as the API shows it, without its items. */
export function categoryJson(row = 'category'): RawBuilder<Json<Category>> {
  return jsonObject<Category>(categoryFields(row));
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

/** The fields of a category as the API shows them, without its items. */
export function categoryFields(row = 'category') {
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
