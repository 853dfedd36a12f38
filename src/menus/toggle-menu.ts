import { sql } from 'kysely';
import { data, jsonObject } from '../db/json.ts';
import { build, type Param } from '../db/statement.ts';
import { acceptedETags, eTagMatches, type IfMatch, requireWritten } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import { type MenuKey, requireMenu } from '../records/menu-reach.ts';
import { isReachable } from '../records/record-kind.ts';
import { change, raised, type Written, write, written } from '../records/write.ts';
import { menuETag, menuKey, menus } from './menu.ts';

/** Flips `is_active`, in one statement with its event. */
export async function toggleMenu(call: Call<'toggleMenu'>): Promise<Reply<'toggleMenu'>> {
  const { database, params, caller, headers, requestId } = call;
  const key = menuKey(params, caller);
  const if_match = acceptedETags(headers['if-match']);
  const toggled = await toggle(database, { ...key, if_match, ...written(requestId) });
  const { etag, resource } = await requireWritten(toggled, () => requireMenu(database, key));
  return ok(data(resource), { ETag: etag });
}

const previous = jsonObject<{ is_active: boolean }>({ is_active: sql`old.is_active` });

const toggle = write(
  'menus.toggleMenu',
  (p: Param<MenuKey & IfMatch & Written>) =>
    build
      .updateTable('menu')
      .set({
        is_active: sql`not menu.is_active`,
        ...raised(p, 'menu'),
        content_version: sql`menu.content_version + 1`,
      })
      .where(isReachable(menus, p))
      .where(eTagMatches(p, menuETag()))
      .returning([...change(menus, 'menu.toggled', { previous }), menuETag('new').as('etag')]),
  ['etag', 'resource'],
  { touchesMenu: false },
);
