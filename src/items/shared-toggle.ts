/*
 * Toggles of items that share a statement, as records/toggle-turns.ts has it.
 *
 * The statement locks the menus, then their items, and changes what it has locked. It waits for nothing while it holds a
 * lock, so it is part of no circle of writers, whatever order the others lock in: it passes over items that another has
 * locked. It passes over such menus as well, so that nobody waits for a menu that is not theirs. The calls in such a
 * menu come together again in a statement for this menu alone, which waits for it before it locks anything else; as long
 * as that is under way, calls in this menu join it at once. A call whose item was locked, or is not there, goes alone.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { type Calls, shared } from '../db/shared-statement.ts';
import type { Statement } from '../db/statement.ts';
import { reachKey, withinReach } from '../records/reach.ts';
import {
  changeOfTurns,
  type Toggle,
  type Toggles,
  type Turn,
  takeTurns,
  toggledToLastTurn,
  wantedTurns,
} from '../records/toggle-turns.ts';
import type { Shown } from '../records/update.ts';
import { writeOf } from '../records/write.ts';
import { type Item, type ItemKey, shownItem } from './item.ts';

type Toggled = Shown<Item>[];

/**
 * @param alone the toggle of one item by itself.
 * @returns the same, for any number of calls at once. As there, no row says that none was toggled.
 */
export function sharedToggle<Call extends ItemKey & Toggle>(alone: Statement<Call, Shown<Item>>) {
  const inOneMenu = shared<Call, Toggled>({
    key: (call) => `${call.menu_id} ${reachKey(call)}`,
    alone,
    together: (database, calls) => takeTurns(toggleInMenu, database, calls, pathsOf(calls), alone),
    goesBeside: false,
  });
  const inAnyMenu = shared<Call, Toggled>({
    key: reachKey,
    alone,
    together: (database, calls) => takeTurns(toggleInMenus, database, calls, pathsOf(calls), inOneMenu),
  });
  return (database: Database, call: Call): Promise<Toggled> =>
    (inOneMenu.isBusy(database, call) ? inOneMenu : inAnyMenu)(database, call);
}

interface Paths {
  menu_ids: number[];
  item_ids: number[];
}

function pathsOf(calls: Calls<ItemKey>): Paths {
  return { menu_ids: calls.map(({ menu_id }) => menu_id), item_ids: calls.map(({ item_id }) => item_id) };
}

function toggleStatement(name: string, otherwise: RawBuilder<unknown>) {
  return writeOf<Toggles & Paths, Turn<Item>>(name, (p) => {
    const ids = { item: p('item_ids', 'bigint[]'), menu: p('menu_ids', 'bigint[]') };
    return {
      before: sql`
    wanted as (${wantedTurns(p, [
      ['item_id', ids.item],
      ['menu_id', ids.menu],
    ])}),
    locked_menus as materialized (
      select menu_id from menu
      where menu_id = any (${ids.menu}) and ${withinReach(p, 'menu')}
      order by menu_id for no key update ${otherwise}
    ),
    locked as materialized (
      select item_id, account_id, menu_id from item
      where item_id = any (${ids.item}) and menu_id = any (array(select menu_id from locked_menus))
        and ${withinReach(p, 'item')}
      order by item_id for no key update skip locked
    ),
    turns as (select wanted.*, locked.account_id from wanted join locked using (item_id, menu_id)),
    ${toggledToLastTurn('item')}`,
      change: changeOfTurns<Item>('item', shownItem),
      requestId: sql.ref('change.request_id'),
      touch: sql`
    update menu set content_version = content_version + touch.turns, stamp = ${p('stamp', 'integer')}
    from (select menu_id, account_id, count(*) as turns from changed group by menu_id, account_id) as touch
    where menu.menu_id = touch.menu_id and menu.account_id = touch.account_id`,
      response: sql`select place, etag, resource from changed`,
    };
  });
}

const toggleInMenus = toggleStatement('items.toggleItems', sql`skip locked`);
const toggleInMenu = toggleStatement('items.toggleItemsInMenu', sql``);
