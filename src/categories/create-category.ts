import { data } from '../db/json.ts';
import { notFound } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { created } from '../http/reply.ts';
import { creation } from '../records/create.ts';
import { type MenuKey, requireMenu } from '../records/menu-reach.ts';
import { reachOf } from '../records/reach.ts';
import { type Category, categories, categoryFields } from './category.ts';

export async function createCategory(call: Call<'createCategory'>): Promise<Reply<'createCategory'>> {
  const { database, params, body, caller, requestId } = call;
  const key = { ...params, ...reachOf(caller) };
  const [category] = await insert(database, {
    ...key,
    name: body.name.trim(),
    description: body.description ?? '',
    sort_order: body.sort_order ?? null,
    external_id: body.external_id ?? null,
    request_id: requestId,
  });
  if (!category) {
    await requireMenu(database, key);
    throw notFound('There is no such menu.');
  }
  const location = `/api/v1/menus/${params.menu_id}/categories/${category.id}`;
  return created(data(category.resource), { ETag: category.etag, Location: location });
}

// The menu is not held: a delete of it, which locks it before its last look, would wait here in a circle. One that is
// deleted meanwhile is found missing by the foreign key.
type NewCategory = Pick<Category, 'name' | 'description' | 'external_id'> & { sort_order: number | null };

const insert = creation<MenuKey, NewCategory, Category>({
  name: 'categories.createCategory',
  kind: categories,
  parent: { table: 'menu', path: ['menu_id'], inherited: ['menu_id'], held: false },
  fields: categoryFields,
});
