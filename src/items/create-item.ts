import { data } from '../db/json.ts';
import type { Call, Reply } from '../http/handler.ts';
import { created } from '../http/reply.ts';
import { creation } from '../records/create.ts';
import { type MenuKey, requireMenu } from '../records/menu-reach.ts';
import { reachOf } from '../records/reach.ts';
import { requireSensibleAbsence } from './availability.ts';
import { type Item, itemDefaults, itemFields, items, notInMenu } from './item.ts';

export async function createItem(call: Call<'createItem'>): Promise<Reply<'createItem'>> {
  const { database, params, body, caller, requestId } = call;
  requireSensibleAbsence(body);

  const key = { ...params, ...reachOf(caller) };
  const [item] = await insert(database, {
    ...key,
    ...itemDefaults,
    is_available: body.unavailable_until == null,
    ...body,
    name: body.name.trim(),
    request_id: requestId,
  });
  if (!item) {
    await requireMenu(database, key);
    throw notInMenu();
  }
  const location = `/api/v1/menus/${params.menu_id}/items/${item.id}`;
  return created(data(item.resource), { ETag: item.etag, Location: location });
}

type CategoryPath = MenuKey & { category_id: number };
const { category_id: _inherited, ...fields } = itemFields;
type NewItem = Pick<Item, Exclude<keyof typeof fields, 'sort_order'>> & { sort_order: number | null };

const insert = creation<CategoryPath, NewItem, Item>({
  name: 'items.createItem',
  kind: items,
  parent: {
    table: 'category',
    path: ['category_id', 'menu_id'],
    inherited: ['menu_id', 'category_id'],
    held: true,
  },
  fields,
});
