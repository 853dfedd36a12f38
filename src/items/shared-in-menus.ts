/*
 * Writes of single items that share a statement. The statement locks the menus, then their items, and changes what it
 * has locked. It never waits while it holds a lock, so it cannot be part of a deadlock, in whatever order others
 * lock: it skips items that another transaction has locked.
 *
 * It skips such menus as well, so that no call waits because of a menu that is not its own. The calls of a client in
 * such a menu meet again in a statement for this menu alone, which waits for it before it locks anything else; until
 * that has ended, further calls of the client in this menu join it directly. A call whose item was locked, or does not
 * exist, continues on its own.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { type Calls, type Outcome, type Sharing, shared } from '../db/shared-statement.ts';
import type { Param, Statement } from '../db/statement.ts';
import type { Stamped } from '../http/conditional.ts';
import type { MenuKey } from '../records/menu-reach.ts';
import { type Reach, reachKey, withinReach } from '../records/reach.ts';
import type { Switching } from '../records/switches.ts';

/** Which menus a statement locks: those that are free, or its only one, waiting for it. */
export type MenuLocks = 'free' | 'awaited';

interface SharingInMenus<Call, Row> extends Pick<Sharing<Call, Row[]>, 'alone' | 'changed'> {
  /** Runs several at once, by the statement with these locks. */
  together: (locks: MenuLocks, database: Database, calls: Calls<Call>) => Promise<Outcome<Row[]>[]>;
}

/** @returns the same write as `alone`, for any number of calls at once. */
export function sharedInMenus<Call extends MenuKey & Switching, Row>({
  alone,
  together,
  ...sharing
}: SharingInMenus<Call, Row>): Statement<Call, Row> {
  const inOneMenu = shared<Call, Row[]>({
    ...sharing,
    key: (call) => `${call.menu_id} ${call.client_id} ${reachKey(call)}`,
    isOfOneClient: true,
    alone,
    together: (database, calls) => together('awaited', database, calls),
    goesBeside: false,
  });
  const inAnyMenu = shared<Call, Row[]>({
    ...sharing,
    key: reachKey,
    alone,
    together: (database, calls) => together('free', database, calls),
    goOn: inOneMenu,
  });
  return (database, call) => (inOneMenu.isBusy(database, call) ? inOneMenu : inAnyMenu)(database, call);
}

/**
 * The calls, or their rows, as a table, from a JSON array of objects.
 * @param types of its columns, which are named after the fields of an object
 */
export function tableOfCalls(
  p: Param<{ calls: string }>,
  types: Record<string, string>,
): RawBuilder<unknown> {
  const columns = Object.entries(types).map(([name, type]) => `${name} ${type}`);
  return sql`select * from json_to_recordset(${p('calls', 'json')}) as wanted (${sql.raw(columns.join(', '))})`;
}

/** Parameters that read their values from a row of such a table, by the name that the query gives it. */
export function ofRow(row: string): (name: string) => RawBuilder<never> {
  return (name) => sql.ref(`${row}.${name}`);
}

/**
 * CTEs that lock items: `locked` has the items that the statement has locked, in menus that it has locked.
 * @param shown the columns of `locked`
 */
export function lockedInMenus(
  p: Param<Reach>,
  ids: { item: RawBuilder<unknown>; menu: RawBuilder<unknown> },
  locks: MenuLocks,
  shown: RawBuilder<unknown> = sql`item_id, account_id, menu_id, location_id`,
): RawBuilder<unknown> {
  return sql`
    locked_menus as materialized (
      select menu_id from menu
      where menu_id = any (${ids.menu}) and ${withinReach(p, 'menu')}
      order by menu_id for no key update ${locks === 'free' ? sql`skip locked` : sql``}
    ),
    locked as materialized (
      select ${shown} from item
      where item_id = any (${ids.item}) and menu_id = any (array(select menu_id from locked_menus))
        and ${withinReach(p, 'item')}
      order by item_id for no key update skip locked
    )`;
}

/**
 * Marks the menus as changed: counts the changes in each.
 * @param changes how many those are, an aggregate over the rows of `changed`
 */
export function touchCounted(p: Param<Stamped>, changes = sql`count(*)`): RawBuilder<unknown> {
  return sql`
    update menu set content_version = content_version + touch.changes, stamp = ${p('stamp', 'integer')}
    from (select menu_id, account_id, ${changes} as changes from changed group by menu_id, account_id) as touch
    where menu.menu_id = touch.menu_id and menu.account_id = touch.account_id`;
}
