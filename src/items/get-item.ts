import { requireReach, withinReach } from '../records/reach.ts';
import { build, statement } from '../db/statement.ts';
import { isCurrent } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { data, type Json } from '../db/json.ts';
import { notModified, ok } from '../http/reply.ts';
import { type Item, type ItemKey, itemJson, itemKey, itemTag } from './item.ts';

export async function getItem({
  database,
  params,
  caller,
  headers,
}: Call<'getItem'>): Promise<Reply<'getItem'>> {
  const [found] = await selectItem(database, itemKey(params, caller));
  const row = requireReach(found, 'item');
  if (isCurrent(headers['if-none-match'], row.etag)) return notModified(row.etag);
  return ok(data(row.item), { ETag: row.etag });
}

const selectItem = statement<ItemKey, { within_reach: boolean; etag: string; item: Json<Item> }>((p) =>
  build
    .selectFrom('item')
    .select([withinReach(p, 'item').as('within_reach'), itemTag().as('etag'), itemJson().as('item')])
    .where('item_id', '=', p('item_id', 'bigint'))
    .where('menu_id', '=', p('menu_id', 'bigint')),
);
