import { data } from '../db/json.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { isCurrent } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { notModified, ok } from '../http/reply.ts';
import { requireReach, withinReach } from '../records/reach.ts';
import { isAtPath } from '../records/record-kind.ts';
import { type ItemKey, itemETag, itemJson, itemKey, items } from './item.ts';

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

const selectItem = statement('items.getItem', (p: Param<ItemKey>) =>
  build
    .selectFrom('item')
    .select([withinReach(p, 'item').as('within_reach'), itemETag().as('etag'), itemJson().as('resource')])
    .where(isAtPath(items, p)),
);
