import { data } from '../db/json.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { isCurrent } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { notModified, ok } from '../http/reply.ts';
import { type Reach, reachOf, requireReach, withinReach } from '../records/reach.ts';
import { itemJson, items } from './item.ts';

export async function getItemById(call: Call<'getItemById'>): Promise<Reply<'getItemById'>> {
  const { database, params, caller, headers } = call;
  const [found] = await selectItem(database, { ...params, ...reachOf(caller) });
  const row = requireReach(found, 'item');
  if (isCurrent(headers['if-none-match'], row.etag)) return notModified(row.etag);
  return ok(data(row.resource), { ETag: row.etag });
}

const selectItem = statement('items.getItemById', (p: Param<Reach & { item_id: number }>) =>
  build
    .selectFrom('item')
    .select([withinReach(p, 'item').as('within_reach'), items.eTag().as('etag'), itemJson().as('resource')])
    .where('item_id', '=', p('item_id', 'bigint')),
);
