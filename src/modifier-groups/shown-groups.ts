import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { columns, type Json } from '../db/json.ts';
import { type Param, statement } from '../db/statement.ts';
import { groupJson, type ModifierGroup } from './modifier-group.ts';

/** The groups that the items of the row of `menu` lead to, directly or through modifiers, each once, by id. */
export function groupsOfMenuJson(): RawBuilder<Json<ModifierGroup[]>> {
  return sql`(
    select coalesce(json_agg(${groupJson()} order by modifier_group.modifier_group_id), '[]')
    from ${groupsOfMenu()} as modifier_group)`;
}

/** Their rows, with one look-up for each group, whatever the planner thinks of their number. */
export function groupsOfMenu(): RawBuilder<unknown> {
  return sql`(
    with recursive reached (modifier_group_id) as (
      select modifier_group_id from modifier_group_use as used
      where used.account_id = menu.account_id and used.menu_id = menu.menu_id
      union
      select used.modifier_group_id from reached join modifier_group_use as used
        on used.account_id = menu.account_id and used.user_group_id = reached.modifier_group_id
    )
    select modifier_group.* from reached cross join lateral (
      select * from modifier_group
      where modifier_group.modifier_group_id = reached.modifier_group_id
        and modifier_group.account_id = menu.account_id
      limit 1
    ) as modifier_group)`;
}

/** Every group of the location of the row of `menu`, by id. */
export function groupsOfLocationJson(): RawBuilder<Json<ModifierGroup[]>> {
  return sql`(
    select coalesce(json_agg(${groupJson()} order by modifier_group.modifier_group_id), '[]')
    from modifier_group
    where modifier_group.account_id = menu.account_id and modifier_group.location_id = menu.location_id)`;
}

/**
 * The part of a menu's ETag that shows which of its modifiers read as available before that is written to their rows;
 * empty when there are none.
 */
export function returnedModifiers(row: string): RawBuilder<string> {
  const menu = columns('menu', row);
  return sql`coalesce('-' || (
    select md5(string_agg(modifier.modifier_id::text, ' ' order by modifier.modifier_id))
    from modifier join modifier_group using (modifier_group_id, account_id)
    where modifier.account_id = ${menu.account_id} and modifier.location_id = ${menu.location_id}
      and modifier.unavailable_until <= now() and ${menu.menu_id} = any (modifier_group.menu_ids)), '')`;
}

/**
 * Writes into each group of a location which menus show it now.
 * @param transaction holds the groups, after a change of uses.
 */
export async function noteShowingMenus(
  transaction: Database,
  values: { account_id: number; location_id: number },
): Promise<void> {
  await note(transaction, values);
}

const note = statement(
  'modifierGroups.noteShowingMenus',
  (p: Param<{ account_id: number; location_id: number }>) => {
    const atLocation = sql`own.account_id = ${p('account_id', 'bigint')}
      and own.location_id = ${p('location_id', 'bigint')}`;
    return sql<object>`
    with recursive shown (menu_id, modifier_group_id) as (
      select used.menu_id, used.modifier_group_id
      from modifier_group as own join modifier_group_use as used using (account_id, modifier_group_id)
      where ${atLocation} and used.menu_id is not null
      union
      select shown.menu_id, used.modifier_group_id from shown join modifier_group_use as used
        on used.account_id = ${p('account_id', 'bigint')} and used.user_group_id = shown.modifier_group_id
    ), wanted as (
      select own.modifier_group_id, own.account_id,
        coalesce(array_agg(shown.menu_id order by shown.menu_id) filter (where shown.menu_id is not null), '{}') as menu_ids
      from modifier_group as own left join shown using (modifier_group_id)
      where ${atLocation}
      group by own.modifier_group_id, own.account_id
    )
    update modifier_group set menu_ids = wanted.menu_ids from wanted
    where modifier_group.modifier_group_id = wanted.modifier_group_id
      and modifier_group.account_id = wanted.account_id and modifier_group.menu_ids <> wanted.menu_ids`;
  },
);
