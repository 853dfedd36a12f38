import { reachOf, requireReach } from '../accounts/reach.ts';
import { isCurrent } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { data } from '../http/json.ts';
import { notModified, ok } from '../http/reply.ts';
import { selectMenuDetail, selectMenuTag } from './menu-detail.ts';

/** A client whose copy is current costs a look-up by primary key only. */
export async function getMenu({
  database,
  params,
  caller,
  headers,
}: Call<'getMenu'>): Promise<Reply<'getMenu'>> {
  const values = { ...params, ...reachOf(caller) };
  const ifNoneMatch = headers['if-none-match'];
  if (ifNoneMatch !== undefined) {
    const [current] = await selectMenuTag(database, values);
    if (current && isCurrent(ifNoneMatch, current.etag)) return notModified(current.etag);
  }
  const [found] = await selectMenuDetail(database, values);
  const row = requireReach(found, 'menu');
  return ok(data(row.menu), { ETag: row.etag });
}
