import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { build, statement } from '../../db/statement.ts';
import type { MenuKey } from '../menu.ts';
import { readStored, type StoredMenu } from './stored.ts';

/**
 * Locks a menu and everything in it against other writers, in the order that every write locks in: categories,
 * items, menu.
 * @returns the menu as it is now. Undefined when it is gone, or when something was put into it meanwhile, which is
 * not locked and now could not be without breaking the order: begin again with a new transaction.
 */
export async function lockStored(transaction: Database, key: MenuKey): Promise<StoredMenu | undefined> {
  const [categories] = await lockCategories(transaction, key);
  const [items] = await lockItems(transaction, key);
  const [menu] = await lockMenu(transaction, key);
  const stored = menu && (await readStored(transaction, key));
  const whole = stored?.categories.length === categories?.locked && stored?.items.length === items?.locked;
  return whole ? stored : undefined;
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
