import { sql } from 'kysely';
import { categories } from '../categories/category.ts';
import type { Database } from '../db/database.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { acceptedETags, eTagMatches, type IfMatch, requireWritten } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { noContent } from '../http/reply.ts';
import { items } from '../items/item.ts';
import { type MenuKey, requireMenu } from '../records/menu-reach.ts';
import { withinReach } from '../records/reach.ts';
import { isReachable } from '../records/record-kind.ts';
import { change, type Written, write, written } from '../records/write.ts';
import { lockContent } from './lock-content.ts';
import { menuETag, menuKey, menus } from './menu.ts';

/** Deletes the menu, its categories and its items, in one statement with an event for each. */
export async function deleteMenu(call: Call<'deleteMenu'>): Promise<Reply<'deleteMenu'>> {
  const { database, params, caller, headers, requestId } = call;
  const key = menuKey(params, caller);
  const values = { ...key, if_match: acceptedETags(headers['if-match']), ...written(requestId) };
  for (;;) {
    const deleted = await database.transaction().execute((transaction) => deleteLocked(transaction, values));
    if (!deleted) continue;
    await requireWritten(deleted, () => requireMenu(database, key));
    return noContent();
  }
}

/**
 * Everything is locked before the delete begins, so that it sees all records. A category that was added before the menu
 * was locked is not locked itself, and locking it now would break the order.
 * @returns the deleted records; undefined when there is such a category, and nothing was deleted.
 */
async function deleteLocked(transaction: Database, values: Values): Promise<object[] | undefined> {
  const locked = await lockContent(transaction, values);
  if (!locked) return [];
  const [now] = await countCategories(transaction, values);
  if (now && now.count > locked.categories) return undefined;
  return deleteWithContent(transaction, values);
}

type Values = MenuKey & IfMatch & Written;

const countCategories = statement('menus.deleteMenu.countCategories', (p: Param<MenuKey>) =>
  build
    .selectFrom('category')
    .select(sql<number>`count(*)`.as('count'))
    .where('menu_id', '=', p('menu_id', 'bigint'))
    .where(withinReach(p, 'category')),
);

const deleteWithContent = write(
  'menus.deleteMenu',
  (p: Param<Values>) => {
    const isMenu = sql<boolean>`${isReachable(menus, p)} and ${eTagMatches(p, menuETag())}`;
    const isInside = sql<boolean>`(menu_id, account_id) in (select menu_id, account_id from menu where ${isMenu})`;
    return [
      build
        .deleteFrom('item')
        .where(isInside)
        .returning(change(items, 'item.deleted', { row: 'old' })),
      build
        .deleteFrom('category')
        .where(isInside)
        .returning(change(categories, 'category.deleted', { row: 'old' })),
      build
        .deleteFrom('menu')
        .where(isMenu)
        .returning(change(menus, 'menu.deleted', { row: 'old' })),
    ];
  },
  ['record'],
  { touchesMenu: false },
);
