import type { components } from '../../generated/api.ts';
import { columns, created, rfc3339 } from '../http/json.ts';

export type Category = components['schemas']['Category'];

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
