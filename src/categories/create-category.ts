import { data } from '../db/json.ts';
import { withCompleteHours } from '../hours/hours.ts';
import { notFound } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { created } from '../http/reply.ts';
import { creationInMenu } from '../records/create-in-menu.ts';
import { type MenuKey, requireMenu } from '../records/menu-reach.ts';
import { reachOf } from '../records/reach.ts';
import { written } from '../records/write.ts';
import { type Category, categories, categoryFields, categoryLimit } from './category.ts';

/** Creates a category in a menu, in one statement with its event. @throws 404 or 403 for the menu */
export async function createCategory(call: Call<'createCategory'>): Promise<Reply<'createCategory'>> {
  const { database, params, body, caller, requestId } = call;
  const { hours } = withCompleteHours(body);
  const key = { ...params, ...reachOf(caller) };
  const [category] = await insert(database, {
    ...key,
    name: body.name.trim(),
    description: body.description ?? '',
    sort_order: body.sort_order ?? null,
    external_id: body.external_id ?? null,
    hours: hours ?? null,
    ...written(requestId),
  });
  if (!category) {
    await requireMenu(database, key);
    throw notFound('There is no such menu.');
  }
  const location = `/api/v1/menus/${params.menu_id}/categories/${category.id}`;
  return created(data(category.resource), { ETag: category.etag, Location: location });
}

// The menu is not locked: deleteMenu locks it before its last check and would wait for this transaction in a circle.
// If the menu is deleted meanwhile, the foreign key fails.
type NewCategory = Pick<Category, 'name' | 'description' | 'external_id' | 'hours'> & {
  sort_order: number | null;
};

const insert = creationInMenu<MenuKey, NewCategory, Category>(
  {
    name: 'categories.createCategory',
    kind: categories,
    parent: { table: 'menu', path: ['menu_id'], inherited: ['menu_id'], held: false },
    fields: categoryFields,
  },
  categoryLimit,
);
