import { data } from '../db/json.ts';
import { isCurrent } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { notModified, ok } from '../http/reply.ts';
import { type Reach, reachOf, requireReach } from '../records/reach.ts';
import type { RecordKind } from '../records/record-kind.ts';
import { sharedRead } from '../records/shared-read.ts';
import { type Item, itemJson, items } from './item.ts';

/** One item by its id alone, or 304 if the client has it. @throws 404 or 403 */
export async function getItemById(call: Call<'getItemById'>): Promise<Reply<'getItemById'>> {
  const { database, params, caller, headers } = call;
  const [found] = await selectItem(database, { ...params, ...reachOf(caller) });
  const row = requireReach(found, 'item');
  if (isCurrent(headers['if-none-match'], row.etag)) return notModified(row.etag);
  return ok(data(row.resource), { ETag: row.etag });
}

const byId: Pick<RecordKind<Reach & { item_id: number }, Item>, 'table' | 'path'> = {
  table: 'item',
  path: ['item_id'],
};

const selectItem = sharedRead('items.getItemById', byId, { etag: items.eTag(), resource: itemJson() });
