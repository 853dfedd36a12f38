import type { Call, Reply } from '../http/handler.ts';
import { noContent } from '../http/reply.ts';
import { deletion } from '../records/delete.ts';
import { itemKey, items, requireItem } from './item.ts';

export async function deleteItem(call: Call<'deleteItem'>): Promise<Reply<'deleteItem'>> {
  await deleteOne(call, itemKey(call.params, call.caller));
  return noContent();
}

const deleteOne = deletion({ name: 'items.deleteItem', kind: items, require: requireItem });
