import { data, encoded } from '../db/json.ts';
import { isCurrent } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { notModified, ok } from '../http/reply.ts';
import { requireReach } from '../records/reach.ts';
import { builtMenu, keepMenu } from './built-menus.ts';
import { menuKey } from './menu.ts';
import { selectMenuDetail, selectMenuETag } from './menu-detail.ts';

/** A read of a menu that has not changed since it was last built costs a look-up by primary key only. */
export async function getMenu(call: Call<'getMenu'>): Promise<Reply<'getMenu'>> {
  const { database, params, caller, headers } = call;
  const key = menuKey(params, caller);
  const [current] = await selectMenuETag(database, key);
  const { etag } = requireReach(current, 'menu');
  if (isCurrent(headers['if-none-match'], etag)) return notModified(etag);
  const kept = builtMenu(database, params.menu_id, etag);
  if (kept) return ok(kept, { ETag: etag });
  const [found] = await selectMenuDetail(database, key);
  const built = requireReach(found, 'menu');
  const body = encoded(data(built.resource));
  keepMenu(database, params.menu_id, { etag: built.etag, body });
  return ok(body, { ETag: built.etag });
}
