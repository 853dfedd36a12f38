import { type Expression, type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import type { Caller } from '../accounts/caller.ts';
import { type Reach, reachOf, requireReach, withinReach } from '../records/reach.ts';
import type { Database } from '../db/database.ts';
import { build, statement } from '../db/statement.ts';
import { change, type EventType, noPrevious } from '../records/write.ts';
import { type AnyJson, columns, created, type Json, jsonObject, rfc3339 } from '../db/json.ts';

export type Menu = components['schemas']['Menu'];

/** Path of one menu and who asks. */
export type MenuKey = { menu_id: number } & Reach;

/** The fields of a menu as the API shows them, without its content. */
export function menuFields(row = 'menu') {
  const menu = columns('menu', row);
  return {
    menu_id: menu.menu_id,
    location_id: menu.location_id,
    name: menu.name,
    description: menu.description,
    is_active: menu.is_active,
    sort_order: menu.sort_order,
    external_id: menu.external_id,
    created: created(menu.created_at),
    updated_at: rfc3339(menu.updated_at),
    version: menu.version,
  };
}

/** A row of `menu` as the API shows it. */
export function menuJson(row = 'menu'): RawBuilder<Json<Menu>> {
  return jsonObject<Menu>(menuFields(row));
}

/**
 * The ETag of a whole menu, quotes included. It counts the changes inside and the items whose
 * `unavailable_until` has passed, since those read as available before anything is written.
 */
export function menuTag(row = 'menu'): RawBuilder<string> {
  const menu = columns('menu', row);
  return sql`'"' || ${menu.content_version} || '-' || (
    select count(*) from item where item.menu_id = ${menu.menu_id} and item.unavailable_until <= now()) || '"'`;
}

/** What the CTE that writes menus returns for recordEvents; `row` is 'old' when it deletes. */
export function changedMenu(
  eventTypes: Expression<EventType[]>,
  previous: Expression<AnyJson | null> = noPrevious,
  row: 'new' | 'old' = 'new',
): ReturnType<typeof change> {
  const menu = columns('menu', row);
  return change({
    account_id: menu.account_id,
    location_id: menu.location_id,
    menu_id: menu.menu_id,
    record: sql`'menu:' || ${menu.menu_id}`,
    event_types: eventTypes,
    data: menuJson(row),
    previous,
  });
}

/**
 * The CTE that marks the menus of the CTE `changes` as changed inside.
 *
 * Every write locks in one order, so that none waits for another in a circle: categories, items, menus, each by id.
 * The arrays are complete, and with them every change, before the first menu is locked. A menu is locked by its update
 * alone: `for no key update` first would follow newer versions of the row while it queues at the older one, where the
 * update itself must pass once more.
 */
export function touchMenus(changes: string): RawBuilder<Record<string, unknown>> {
  return sql`(
    update menu set content_version = content_version + 1
    where menu_id = any (array(select menu_id from ${sql.table(changes)}))
      and account_id = any (array(select account_id from ${sql.table(changes)})))`;
}

/** @throws 404 or 403 when the caller finds no such menu. */
export async function requireMenu(database: Database, menu_id: number, caller: Caller): Promise<void> {
  const [row] = await selectReach(database, { menu_id, ...reachOf(caller) });
  requireReach(row, 'menu');
}

const selectReach = statement<MenuKey, { within_reach: boolean }>((p) =>
  build
    .selectFrom('menu')
    .select(withinReach(p, 'menu').as('within_reach'))
    .where('menu_id', '=', p('menu_id', 'bigint')),
);
