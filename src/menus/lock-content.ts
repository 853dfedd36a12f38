import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { AnyJson } from '../db/json.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { lockGroups, lockModifiers } from '../modifier-groups/lock.ts';
import type { MenuKey } from '../records/menu-reach.ts';
import { isAtPath } from '../records/record-kind.ts';
import { menuETag, menus } from './menu.ts';
import type { Places } from './order.ts';

/** How much is locked. */
interface LockedContent {
  categories: number;
  items: number;
}

/** Modifier groups to be locked as well. */
export interface LockedGroups {
  location_id: number;
  /** The groups that will change, themselves or in their contents. */
  changed: number[];
}

/**
 * Locks a menu and everything in it against other writers, in the order of all writes: categories, items, modifiers,
 * modifier groups, menus. Records added before the menu itself is locked may be missed.
 * @param groups the caller already has its turn with groups; the menus that show a changing one are locked with the
 *   menu.
 * @returns undefined when the account has no such menu.
 */
export async function lockContent(
  transaction: Database,
  key: MenuKey,
  groups?: LockedGroups,
): Promise<LockedContent | undefined> {
  const [categories] = await lockCategories(transaction, key);
  const [items] = await lockItems(transaction, key);
  const changed = groups?.changed ?? [];
  if (groups) {
    const place = { account_id: key.account_id, location_id: groups.location_id };
    await lockModifiers(transaction, { ...place, groups: changed });
    await lockGroups(transaction, place);
  }
  const menus = await lockMenus(transaction, { ...key, groups: changed });
  const isThere = menus.some(({ menu_id }) => menu_id === key.menu_id);
  return isThere ? { categories: categories?.count ?? 0, items: items?.count ?? 0 } : undefined;
}

/**
 * Locks a menu and everything in it, and reads the positions of its records.
 * @returns the positions as they are now. Undefined when the menu is gone, or when a record was added meanwhile that is
 *   not locked, and locking it now would break the order: begin again with a new transaction.
 */
export async function lockPlaces(transaction: Database, key: MenuKey): Promise<LockedPlaces | undefined> {
  const locked = await lockContent(transaction, key);
  const [found] = locked ? await selectPlaces(transaction, key) : [];
  if (!found) return undefined;
  const places: LockedPlaces = {
    etag: found.etag,
    categories: new Map(JSON.parse(found.categories)),
    items: new Map(JSON.parse(found.items)),
  };
  const isWhole = places.categories.size === locked?.categories && places.items.size === locked.items;
  return isWhole ? places : undefined;
}

interface LockedPlaces extends Places {
  /** The menu's ETag, quotes included. */
  etag: string;
}

/** Both in display order, as the entries of a map. */
const selectPlaces = statement('menus.places', (p: Param<MenuKey>) =>
  build
    .selectFrom('menu')
    .select([
      menuETag().as('etag'),
      sql<AnyJson>`(
        select coalesce(json_agg(json_build_array(category_id, json_build_object('sort_order', sort_order))
          order by sort_order, category_id), '[]')
        from category where category.menu_id = menu.menu_id)`.as('categories'),
      sql<AnyJson>`(
        select coalesce(json_agg(
          json_build_array(item_id, json_build_object('category_id', category_id, 'sort_order', sort_order))
          order by sort_order, item_id), '[]')
        from item where item.menu_id = menu.menu_id)`.as('items'),
    ])
    .where(isAtPath(menus, p)),
);

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

const lockMenus = statement('menus.lockMenus', (p: Param<MenuKey & { groups: number[] }>) =>
  build
    .selectFrom('menu')
    .select('menu_id')
    .where(
      sql<boolean>`menu_id = any (array(
        select ${p('menu_id', 'bigint')} union all select unnest(menu_ids) from modifier_group
        where modifier_group_id = any (${p('groups', 'bigint[]')}) and account_id = ${p('account_id', 'bigint')}))`,
    )
    .where('account_id', '=', p('account_id', 'bigint'))
    .orderBy('menu_id')
    .forNoKeyUpdate(),
);
