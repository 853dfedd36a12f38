import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { build, type Param, statement } from '../db/statement.ts';
import type { MenuKey } from '../records/menu-reach.ts';
import { readStored, type StoredMenu } from './stored-menu.ts';

/** How much is locked. */
interface LockedContent {
  categories: number;
  items: number;
}

/**
 * Locks a menu and everything in it against other writers, in the order that every write locks in: categories,
 * items, menu. What is put into the menu before the menu itself is locked may be missed.
 * @returns undefined when the account has no such menu.
 */
export async function lockContent(transaction: Database, key: MenuKey): Promise<LockedContent | undefined> {
  const [categories] = await lockCategories(transaction, key);
  const [items] = await lockItems(transaction, key);
  const [menu] = await lockMenu(transaction, key);
  return menu && { categories: categories?.count ?? 0, items: items?.count ?? 0 };
}

/**
 * Locks a menu and everything in it, and reads it.
 * @returns the menu as it is now. Undefined when it is gone, or when something was put into it meanwhile, which is
 * not locked and now could not be without breaking the order: begin again with a new transaction.
 */
export async function lockStored(transaction: Database, key: MenuKey): Promise<StoredMenu | undefined> {
  const locked = await lockContent(transaction, key);
  const stored = locked && (await readStored(transaction, key));
  const whole = stored?.categories.length === locked?.categories && stored?.items.length === locked?.items;
  return whole ? stored : undefined;
}

const lockCategories = statement('menus.lockCategories', (p: Param<MenuKey>) =>
  build
    .with('locked', (db) =>
      db
        .selectFrom('category')
        .select('category_id')
        .where('menu_id', '=', p('menu_id', 'bigint'))
        .where('account_id', '=', p('account_id', 'bigint'))
        .orderBy('category_id')
        .forUpdate(),
    )
    .selectFrom('locked')
    .select(sql<number>`count(*)`.as('count')),
);

const lockItems = statement('menus.lockItems', (p: Param<MenuKey>) =>
  build
    .with('locked', (db) =>
      db
        .selectFrom('item')
        .select('item_id')
        .where('menu_id', '=', p('menu_id', 'bigint'))
        .where('account_id', '=', p('account_id', 'bigint'))
        .orderBy('item_id')
        .forUpdate(),
    )
    .selectFrom('locked')
    .select(sql<number>`count(*)`.as('count')),
);

const lockMenu = statement('menus.lockMenu', (p: Param<MenuKey>) =>
  build
    .selectFrom('menu')
    .select('menu_id')
    .where('menu_id', '=', p('menu_id', 'bigint'))
    .where('account_id', '=', p('account_id', 'bigint'))
    .forNoKeyUpdate(),
);
