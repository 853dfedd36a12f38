import { data } from '../db/json.ts';
import { isCurrent } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { notModified, ok } from '../http/reply.ts';
import { requireReach } from '../records/reach.ts';
import { sharedRead } from '../records/shared-read.ts';
import { itemJson, itemKey, items } from './item.ts';

/** One item of a menu, or 304 if the client has it. @throws 404 or 403 */
export async function getItem({
  database,
  params,
  caller,
  headers,
}: Call<'getItem'>): Promise<Reply<'getItem'>> {
  const [found] = await selectItem(database, itemKey(params, caller));
  const row = requireReach(found, 'item');
  if (isCurrent(headers['if-none-match'], row.etag)) return notModified(row.etag);
  return ok(data(row.resource), { ETag: row.etag });
}

const selectItem = sharedRead('items.getItem', items, { etag: items.eTag(), resource: itemJson() });
