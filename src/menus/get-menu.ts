import { isCurrent } from '../http/conditional.ts';
import { notFound } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { notModified, ok } from '../http/reply.ts';
import { requireReach } from '../records/reach.ts';
import { builtMenu } from './built-menus.ts';
import { menuKey } from './menu.ts';
import { readMenuBody } from './menu-body.ts';
import { selectMenuETag } from './menu-detail.ts';

/** Reading a menu that has not changed since it was last built costs only one look-up by primary key. */
export async function getMenu(call: Call<'getMenu'>): Promise<Reply<'getMenu'>> {
  const { database, params, caller, headers } = call;
  const { menu_id } = params;
  const [current] = await selectMenuETag(database, menuKey(params, caller));
  const { etag } = requireReach(current, 'menu');
  if (isCurrent(headers['if-none-match'], etag)) return notModified(etag);
  const built = await builtMenu(database, menu_id, etag, (kept) => readMenuBody(database, menu_id, kept));
  if (!built) throw notFound('There is no such menu.');
  return ok(built.body, { ETag: built.etag });
}
