/*
 * Toggles of modifiers that share a statement; see records/toggle-turns.ts. The statement locks modifiers, then their
 * groups, then the menus that these name, in the order of all writes. It skips what others have locked, so that no
 * call waits because of a record that is not its own: a call runs on its own if its modifier does not exist, or if
 * the modifier, its group or one of its menus was locked.
 */
import { sql } from 'kysely';
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
import type { ModifierKey } from './keys.ts';
import { type Modifier, shownModifier } from './modifier.ts';

/**
 * @param alone the toggle of a single modifier.
 * @returns the same for any number of calls at once. As with `alone`, no row means that the modifier was not toggled.
 */
export function sharedToggle<Call extends ModifierKey & Toggle>(alone: Statement<Call, Shown<Modifier>>) {
  return shared<Call, Shown<Modifier>[]>({
    key: reachKey,
    alone,
    together: (database, calls) => takeTurns(toggle, database, calls, pathsOf(calls)),
  });
}

interface Paths {
  ids: number[];
  group_ids: number[];
  place_ids: number[];
}

function pathsOf(calls: Calls<ModifierKey>): Paths {
  return {
    ids: calls.map(({ modifier_id }) => modifier_id),
    group_ids: calls.map(({ modifier_group_id }) => modifier_group_id),
    place_ids: calls.map(({ location_id }) => location_id),
  };
}

const toggle = writeOf<Toggles & Paths, Turn<Modifier>>('modifierGroups.toggleModifiers', (p) => {
  const ids = p('ids', 'bigint[]');
  const stamp = p('stamp', 'integer');
  return {
    before: sql`
    wanted as (${wantedTurns(p, [
      ['modifier_id', ids],
      ['modifier_group_id', p('group_ids', 'bigint[]')],
      ['location_id', p('place_ids', 'bigint[]')],
    ])}),
    free_modifiers as materialized (
      select modifier_id, modifier_group_id, location_id, account_id from modifier
      where modifier_id = any (${ids}) and ${withinReach(p, 'modifier')}
      order by modifier_id for no key update skip locked
    ),
    free_groups as materialized (
      select modifier_group_id, account_id, menu_ids from modifier_group
      where modifier_group_id = any (array(select modifier_group_id from free_modifiers))
        and ${withinReach(p, 'modifier_group')}
      order by modifier_group_id for no key update skip locked
    ),
    free_menus as materialized (
      select menu_id from menu
      where menu_id = any (array(select unnest(menu_ids) from free_groups)) and ${withinReach(p, 'menu')}
      order by menu_id for no key update skip locked
    ),
    turns as (
      select wanted.*, free_modifiers.account_id, free_groups.menu_ids
      from wanted join free_modifiers using (modifier_id, modifier_group_id, location_id)
        join free_groups using (modifier_group_id)
      -- A menu that is deleted may still be named.
      where not exists (
        select from menu
        where menu.menu_id = any (free_groups.menu_ids) and menu.account_id = free_groups.account_id
          and menu.menu_id <> all (array(select menu_id from free_menus)))
    ),
    ${toggledToLastTurn('modifier')},
    touched_groups as (
      update modifier_group set content_version = content_version + touch.turns, stamp = ${stamp}
      from (select modifier_group_id, account_id, count(*) as turns from turns group by modifier_group_id, account_id) as touch
      where modifier_group.modifier_group_id = touch.modifier_group_id
        and modifier_group.account_id = touch.account_id
    )`,
    change: changeOfTurns<Modifier>('modifier', shownModifier),
    requestId: sql.ref('change.request_id'),
    touch: sql`
    update menu set content_version = content_version + touch.turns, stamp = ${stamp}
    from (
      select menu_id, account_id, count(*) as turns from turns, unnest(menu_ids) as menu_id group by menu_id, account_id
    ) as touch
    where menu.menu_id = touch.menu_id and menu.account_id = touch.account_id`,
    response: sql`select place, etag, resource from changed`,
  };
});
