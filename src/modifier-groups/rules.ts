import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Json } from '../db/json.ts';
import { type Param, statement } from '../db/statement.ts';
import { type FieldError, parameterError } from '../http/errors.ts';

/** What a customer may select in a group. */
export interface Rules {
  min_selections: number;
  max_selections: number | null;
  max_per_modifier: number;
}

/** Numbers of a use that stand in place of the group's. */
export type OwnNumbers = { [N in 'min_selections' | 'max_selections']: number | null };

/** A group as far as its rules and its modifiers must go together. */
export interface GroupRules extends Rules {
  modifier_group_id: number;
  defaults: { modifier_id: number; default_quantity: number }[];
  /** Of the uses that have some, each once. */
  ownNumbers: OwnNumbers[];
}

/** What cannot be met, in the group itself or in one of its uses. */
export function unmet({ defaults, ownNumbers, ...rules }: GroupRules): FieldError[] {
  const quantities = defaults.map(({ default_quantity }) => default_quantity);
  const uses = ownNumbers.flatMap((own) => unmetByUse(rules, own, quantities));
  return [
    ...unmetRules(rules, quantities),
    ...uses.map((error) => ({ ...error, message: `${error.message}, in a use` })),
  ];
}

/** @throws 422 at `default_quantity`, after a change of one; the message names the number of the group it breaks. */
export function requireDefaultsMet(rules: GroupRules): void {
  const errors = unmet(rules).map(({ field, code, message }) => ({
    field: '/default_quantity',
    code,
    message: `cannot be met: ${field.slice(1)} ${message}`,
  }));
  if (errors.length > 0) throw parameterError(errors);
}

/** What cannot be met where a use has numbers of its own. */
export function unmetByUse(
  { max_per_modifier, ...rules }: Rules,
  own: OwnNumbers,
  quantities: readonly number[],
): FieldError[] {
  const min_selections = own.min_selections ?? rules.min_selections;
  const max_selections = own.max_selections ?? rules.max_selections;
  return unmetRules({ min_selections, max_selections, max_per_modifier }, quantities);
}

/** @param quantities the default quantity of each modifier of the group. */
export function unmetRules(
  { min_selections: least, max_selections: most, max_per_modifier: each }: Rules,
  quantities: readonly number[],
): FieldError[] {
  const error = (field: string, message: string) => [{ field: `/${field}`, code: 'unmet', message }];
  const selected = quantities.reduce((sum, quantity) => sum + quantity, 0);
  const possible = quantities.length * each;
  return [
    ...(most !== null && least > most
      ? error('min_selections', `is ${least}, and max_selections ${most}`)
      : []),
    ...(least > possible ? error('min_selections', `is ${least}, and the modifiers allow ${possible}`) : []),
    ...(most !== null && selected > most
      ? error('max_selections', `is ${most}, and the default quantities are ${selected} together`)
      : []),
    ...(quantities.some((quantity) => quantity > each)
      ? error('max_per_modifier', `is ${each}, and a default quantity is greater`)
      : []),
  ];
}

/** The rules of these groups of a location; those that are not there are left out. */
export async function readRules(database: Database, values: Wanted): Promise<GroupRules[]> {
  const rows = await select(database, values);
  return rows.map(({ defaults, own_numbers, ...rules }) => ({
    ...rules,
    defaults: JSON.parse(defaults),
    ownNumbers: JSON.parse(own_numbers),
  }));
}

interface Wanted {
  account_id: number;
  location_id: number;
  groups: number[];
}

interface Row extends Rules {
  modifier_group_id: number;
  defaults: Json<GroupRules['defaults']>;
  own_numbers: Json<OwnNumbers[]>;
}

const select = statement(
  'modifierGroups.rules',
  (p: Param<Wanted>) => sql<Row>`
    select modifier_group_id, min_selections, max_selections, max_per_modifier, (
      select coalesce(json_agg(json_build_object('modifier_id', modifier_id, 'default_quantity', default_quantity)), '[]')
      from modifier
      where modifier.account_id = own.account_id and modifier.modifier_group_id = own.modifier_group_id
    ) as defaults, (
      select coalesce(json_agg(json_build_object('min_selections', min_selections, 'max_selections', max_selections)), '[]')
      from (
        select distinct min_selections, max_selections from modifier_group_use as used
        where used.account_id = own.account_id and used.modifier_group_id = own.modifier_group_id
          and coalesce(min_selections, max_selections) is not null
      ) as numbers
    ) as own_numbers
    from modifier_group as own
    where account_id = ${p('account_id', 'bigint')} and location_id = ${p('location_id', 'bigint')}
      and modifier_group_id = any (${p('groups', 'bigint[]')})`,
);
