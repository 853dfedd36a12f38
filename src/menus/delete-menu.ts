import { sql } from 'kysely';
import { reachOf, withinReach } from '../accounts/reach.ts';
import { changedCategory } from '../categories/category.ts';
import { build, statement } from '../db/statement.ts';
import { deleteWhole } from '../db/whole-delete.ts';
import { recordEvents } from '../events/record.ts';
import { acceptedTags, tagMatches } from '../http/conditional.ts';
import { preconditionFailed } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { noContent } from '../http/reply.ts';
import { changedItem } from '../items/item.ts';
import { changedMenu, type MenuKey, menuTag, requireMenu } from './menu.ts';

/** Deletes the menu, its categories and its items, in one statement with an event for each. */
export async function deleteMenu(call: Call<'deleteMenu'>): Promise<Reply<'deleteMenu'>> {
  const { database, params, caller, headers, requestId, eventCommitted } = call;
  const values = {
    ...params,
    ...reachOf(caller),
    if_match: acceptedTags(headers['if-match']),
    request_id: requestId,
  };
  const [deleted] = await deleteWhole(() => deleteRows(database, values));
  if (!deleted) {
    await requireMenu(database, params.menu_id, caller);
    throw preconditionFailed();
  }
  eventCommitted();
  return noContent();
}

// Everything is locked before anything is deleted, in the order that touchMenus tells of.
const deleteRows = statement<
  MenuKey & { if_match: string[] | null; request_id: string },
  { record: unknown }
>((p) =>
  build
    .with('wanted', (db) =>
      db
        .selectFrom('menu')
        .select(['menu_id', 'account_id'])
        .where('menu_id', '=', p('menu_id', 'bigint'))
        .where(withinReach(p, 'menu'))
        .where(tagMatches(p, menuTag())),
    )
    .with('sections', (db) =>
      db
        .selectFrom('category')
        .select(['category_id', 'account_id'])
        .where('menu_id', 'in', (db) => db.selectFrom('wanted').select('menu_id'))
        .orderBy('category_id')
        .forUpdate('category'),
    )
    .with('dishes', (db) =>
      db
        .selectFrom('item')
        .select(['item_id', 'account_id'])
        .where('menu_id', 'in', (db) => db.selectFrom('wanted').select('menu_id'))
        .where(sql<boolean>`(select count(*) from sections) >= 0`)
        .orderBy('item_id')
        .forUpdate('item'),
    )
    .with('home', (db) =>
      db
        .selectFrom('menu')
        .select(['menu_id', 'account_id'])
        .where('menu_id', 'in', (db) => db.selectFrom('wanted').select('menu_id'))
        .where(tagMatches(p, menuTag()))
        .where(sql<boolean>`(select count(*) from dishes) >= 0`)
        .forUpdate('menu'),
    )
    .with('items', (db) =>
      db
        .deleteFrom('item')
        .where(sql<boolean>`exists (select from home)`)
        .where(sql<boolean>`(item_id, account_id) in (select item_id, account_id from dishes)`)
        .returning(changedItem(sql`array['item.deleted']`, undefined, 'old')),
    )
    .with('categories', (db) =>
      db
        .deleteFrom('category')
        .where(sql<boolean>`exists (select from home)`)
        .where(sql<boolean>`(category_id, account_id) in (select category_id, account_id from sections)`)
        .returning(changedCategory(sql`array['category.deleted']`, undefined, 'old')),
    )
    .with('menus', (db) =>
      db
        .deleteFrom('menu')
        .where(sql<boolean>`(menu_id, account_id) in (select menu_id, account_id from home)`)
        .returning(changedMenu(sql`array['menu.deleted']`, undefined, 'old')),
    )
    .with('changed', (db) =>
      db
        .selectFrom('items')
        .selectAll()
        .unionAll((db) => db.selectFrom('categories').selectAll())
        .unionAll((db) => db.selectFrom('menus').selectAll()),
    )
    .with('recorded', () => recordEvents('changed', p))
    .selectFrom('menus')
    .select('record'),
);
