import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { build, statement } from '../db/statement.ts';
import type { MenuKey } from './menu.ts';

/**
 * Locks a menu and everything in it against other writers, in the order that every write locks in: categories,
 * items, menu. What is put into the menu before the menu itself is locked may be missed.
 * @returns how many categories and items are locked; undefined when the account has no such menu.
 */
export async function lockContent(
  transaction: Database,
  key: MenuKey,
): Promise<{ categories: number; items: number } | undefined> {
  const [categories] = await lockCategories(transaction, key);
  const [items] = await lockItems(transaction, key);
  const [menu] = await lockMenu(transaction, key);
  return menu && { categories: categories?.locked ?? 0, items: items?.locked ?? 0 };
}

interface Locked {
  locked: number;
}

const lockCategories = statement<MenuKey, Locked>((p) =>
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
    .select(sql<number>`count(*)`.as('locked')),
);

const lockItems = statement<MenuKey, Locked>((p) =>
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
    .select(sql<number>`count(*)`.as('locked')),
);

const lockMenu = statement<MenuKey, { menu_id: number }>((p) =>
  build
    .selectFrom('menu')
    .select('menu_id')
    .where('menu_id', '=', p('menu_id', 'bigint'))
    .where('account_id', '=', p('account_id', 'bigint'))
    .forNoKeyUpdate(),
);
