/*
 * Toggles of items that share a statement: see shared-in-menus.ts for the statement and records/toggle-turns.ts for
 * the turns.
 */
import { sql } from 'kysely';
import type { Calls } from '../db/shared-statement.ts';
import type { Statement } from '../db/statement.ts';
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
import { lockedInMenus, type MenuLocks, sharedInMenus, touchCounted } from './shared-in-menus.ts';

/**
 * @param alone the toggle of a single item.
 * @returns the same for any number of calls at once. As with `alone`, no row means that the item was not toggled.
 */
export function sharedToggle<Call extends ItemKey & Toggle>(alone: Statement<Call, Shown<Item>>) {
  return sharedInMenus<Call, Shown<Item>>({
    alone,
    together: (locks, database, calls) => takeTurns(toggles[locks], database, calls, pathsOf(calls)),
  });
}

interface Paths {
  menu_ids: number[];
  item_ids: number[];
}

function pathsOf(calls: Calls<ItemKey>): Paths {
  return { menu_ids: calls.map(({ menu_id }) => menu_id), item_ids: calls.map(({ item_id }) => item_id) };
}

function toggleStatement(name: string, locks: MenuLocks) {
  return writeOf<Toggles & Paths, Turn<Item>>(name, (p) => {
    const ids = { item: p('item_ids', 'bigint[]'), menu: p('menu_ids', 'bigint[]') };
    return {
      before: sql`
    wanted as (${wantedTurns(p, [
      ['item_id', ids.item],
      ['menu_id', ids.menu],
    ])}),
    ${lockedInMenus(p, ids, locks)},
    turns as (select wanted.*, locked.account_id from wanted join locked using (item_id, menu_id)),
    ${toggledToLastTurn('item')}`,
      change: changeOfTurns<Item>('item', shownItem),
      requestId: sql.ref('change.request_id'),
      touch: touchCounted(p),
      response: sql`select place, etag, resource from changed`,
    };
  });
}

const toggles = {
  free: toggleStatement('items.toggleItems', 'free'),
  awaited: toggleStatement('items.toggleItemsInMenu', 'awaited'),
};
