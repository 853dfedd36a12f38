import type { Database } from '../db/database.ts';
import { encoded } from '../db/json.ts';
import { isCurrent } from '../http/conditional.ts';
import { notFound } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { notModified, ok } from '../http/reply.ts';
import type { MenuKey } from '../records/menu-reach.ts';
import { requireReach } from '../records/reach.ts';
import { type Built, builtMenu } from './built-menus.ts';
import { menuKey } from './menu.ts';
import { selectMenuDetail, selectMenuETag } from './menu-detail.ts';

/** A read of a menu that has not changed since it was last built costs a look-up by primary key only. */
export async function getMenu(call: Call<'getMenu'>): Promise<Reply<'getMenu'>> {
  const { database, params, caller, headers } = call;
  const key = menuKey(params, caller);
  const [current] = await selectMenuETag(database, key);
  const { etag } = requireReach(current, 'menu');
  if (isCurrent(headers['if-none-match'], etag)) return notModified(etag);
  const built = await builtMenu(database, params.menu_id, etag, () => build(database, key));
  if (!built) throw notFound('There is no such menu.');
  return ok(built.body, { ETag: built.etag });
}

// For all who may read the menu, so the grant of the one who came first is left out; each has passed its own above.
async function build(database: Database, key: MenuKey): Promise<Built | undefined> {
  const [found] = await selectMenuDetail(database, { ...key, location_ids: null });
  return found && { etag: found.etag, body: await encoded(found.body) };
}
