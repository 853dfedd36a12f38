import type { Call, Reply } from '../http/handler.ts';
import { noContent } from '../http/reply.ts';
import { deletion } from '../records/delete.ts';
import { itemKey, items, requireItem } from './item.ts';

/** Deletes an item, in one statement with its event. @throws 404 or 403, or 412 */
export async function deleteItem(call: Call<'deleteItem'>): Promise<Reply<'deleteItem'>> {
  await deleteOne(call, itemKey(call.params, call.caller));
  return noContent();
}

const deleteOne = deletion({ name: 'items.deleteItem', kind: items, require: requireItem });
