import { data } from '../db/json.ts';
import { withCompleteHours } from '../hours/hours.ts';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import { requireMenu } from '../records/menu-reach.ts';
import { partialUpdate } from '../records/update.ts';
import { menuEventTypes, menuFields, menuKey, menus } from './menu.ts';

/** Changes the fields present in the body, in one statement with its events. */
export async function updateMenu(call: Call<'updateMenu'>): Promise<Reply<'updateMenu'>> {
  const { params, caller } = call;
  const { etag, resource } = await update(call, menuKey(params, caller), withCompleteHours(call.body));
  return ok(data(resource), { ETag: etag });
}

const update = partialUpdate({
  name: 'menus.updateMenu',
  kind: menus,
  fields: menuFields,
  require: requireMenu,
  eventTypes: menuEventTypes(),
  contentVersion: true,
});
