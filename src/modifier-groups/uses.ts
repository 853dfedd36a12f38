import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import type { Database } from '../db/database.ts';
import type { Json } from '../db/json.ts';
import { type Param, statement } from '../db/statement.ts';
import { type FieldError, parameterError } from '../http/errors.ts';
import type { Uses } from './modifier.ts';
import { type OwnNumbers, readRules, unmetByUse } from './rules.ts';

type Body = components['schemas']['ModifierGroupUsesUpdate'];

interface Place {
  account_id: number;
  location_id: number;
}

/** The uses that a body asks for, each with all its fields. */
export function wantedUses({ modifier_groups }: Body): Uses {
  return modifier_groups.map(({ modifier_group_id, min_selections = null, max_selections = null }) => ({
    modifier_group_id,
    min_selections,
    max_selections,
  }));
}

/** Whether the stored list equals this one. */
export function sameUses(stored: string, wanted: Uses): boolean {
  return JSON.stringify(JSON.parse(stored)) === JSON.stringify(wanted);
}

/** @throws 422 for groups that are named twice or are not of this location, and for numbers that cannot be met. */
export async function requireMeetable(database: Database, place: Place, wanted: Uses): Promise<void> {
  const ids = wanted.map(({ modifier_group_id }) => modifier_group_id);
  const found = new Map(
    (await readRules(database, { ...place, groups: ids })).map((rules) => [rules.modifier_group_id, rules]),
  );
  const errors = wanted.flatMap((use, index): FieldError[] => {
    const at = `/modifier_groups/${index}`;
    const field = `${at}/modifier_group_id`;
    const first = ids.indexOf(use.modifier_group_id);
    if (first < index)
      return [{ field, code: 'duplicate', message: `names the same group as /modifier_groups/${first}` }];
    const rules = found.get(use.modifier_group_id);
    if (!rules) return [{ field, code: 'not_found', message: 'is not a modifier group of this location' }];
    const quantities = rules.defaults.map(({ default_quantity }) => default_quantity);
    return unmetByUse(rules, use, quantities).map((error) => ({ ...error, field: at + error.field }));
  });
  if (errors.length > 0) throw parameterError(errors);
}

/** Numbers of a use that are its own. */
export type UseNumbers = OwnNumbers & { modifier_group_id: number };

/** The numbers that uses by items of other menus have for groups of the location of the row of `menu`, each once. */
export function otherNumbersJson(): RawBuilder<Json<UseNumbers[]>> {
  return sql`(
    select coalesce(json_agg(numbers), '[]') from (
      select distinct used.modifier_group_id, used.min_selections, used.max_selections
      from modifier_group as own join modifier_group_use as used using (account_id, modifier_group_id)
      where own.account_id = menu.account_id and own.location_id = menu.location_id
        and used.menu_id <> menu.menu_id and coalesce(used.min_selections, used.max_selections) is not null
    ) as numbers)`;
}

/** Items and modifiers whose uses have changed. */
interface Users {
  account_id: number;
  items: number[];
  modifiers: number[];
}

/** Keeps the uses in the rows of items and modifiers in rows of their own too; those that stay keep their place in lists. */
export async function noteUses(transaction: Database, users: Users): Promise<void> {
  if (users.items.length > 0) for (const note of ofItems) await note(transaction, users);
  if (users.modifiers.length > 0) for (const note of ofModifiers) await note(transaction, users);
}

const ofItems = [endUses('item', 'items'), keepUses('item', 'items', ['item_id', 'menu_id'])];
const ofModifiers = [
  endUses('modifier', 'modifiers'),
  keepUses('modifier', 'modifiers', ['modifier_id', 'user_group_id']),
];

function endUses(user: 'item' | 'modifier', ids: 'items' | 'modifiers') {
  const id = `${user}_id`;
  return statement(
    `modifierGroups.endUses.${ids}`,
    (p: Param<Users>) => sql<object>`
    delete from modifier_group_use as used
    where used.account_id = ${p('account_id', 'bigint')} and used.${sql.ref(id)} = any (${p(ids, 'bigint[]')})
      and not exists (
        select from ${sql.table(user)} as own, ${heldUses()}
        where own.account_id = used.account_id and own.${sql.ref(id)} = used.${sql.ref(id)}
          and held.modifier_group_id = used.modifier_group_id)`,
  );
}

function keepUses(user: 'item' | 'modifier', ids: 'items' | 'modifiers', [id, home]: [string, string]) {
  return statement(
    `modifierGroups.keepUses.${ids}`,
    (p: Param<Users>) => sql<object>`
    insert into modifier_group_use as used
      (account_id, modifier_group_id, ${sql.ref(id)}, ${sql.ref(home)}, min_selections, max_selections)
    select own.account_id, held.modifier_group_id, own.${sql.ref(id)},
      own.${sql.ref(user === 'item' ? 'menu_id' : 'modifier_group_id')}, held.min_selections, held.max_selections
    from ${sql.table(user)} as own, ${heldUses()}
    where own.account_id = ${p('account_id', 'bigint')} and own.${sql.ref(id)} = any (${p(ids, 'bigint[]')})
    order by own.${sql.ref(id)}, held.place
    on conflict (account_id, ${sql.ref(id)}, modifier_group_id)
      do update set min_selections = excluded.min_selections, max_selections = excluded.max_selections`,
  );
}

function heldUses(): RawBuilder<unknown> {
  return sql`rows from (
          json_to_recordset(own.modifier_groups) as (modifier_group_id bigint, min_selections integer, max_selections integer)
        ) with ordinality as held (modifier_group_id, min_selections, max_selections, place)`;
}
