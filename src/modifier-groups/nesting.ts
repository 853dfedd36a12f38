import { sql } from 'kysely';
import { type Param, statement } from '../db/statement.ts';
import type { FieldError } from '../http/errors.ts';

/** Groups that may lie within each other. */
export const mostLevels = 6;

/** A group, by its id or, before it has one, by another name. */
type GroupName = number | string;

/** A group within another, through at least one of the other's modifiers. */
export interface Nesting<Name extends GroupName = GroupName> {
  outer: Name;
  inner: Name;
}

/**
 * The errors of new nestings: a group within itself, or too many levels.
 * @param added each with its pointer into the body
 * @param others all other nestings that will exist; they contain no circle
 */
export function nestingErrors(
  added: readonly (Nesting & { field: string })[],
  others: readonly Nesting[],
): FieldError[] {
  if (added.length === 0) return [];
  const all = [...others, ...added];
  const circles = circlesOf(all);
  const isCircle = ({ outer, inner }: Nesting) => circles.get(outer) === circles.get(inner);
  const flat = all.filter((one) => !isCircle(one));
  const above = chains(flat.map(({ outer, inner }) => [inner, outer]));
  const below = chains(flat.map(({ outer, inner }) => [outer, inner]));
  return added.flatMap(({ field, ...one }) => {
    if (isCircle(one)) return [{ field, code: 'circle', message: 'would contain itself' }];
    if (above(one.outer) + below(one.inner) <= mostLevels) return [];
    return [{ field, code: 'too_deep', message: `would lie deeper than ${mostLevels} levels` }];
  });
}

/** Marks the groups, alike where they lie within each other: strongly connected components (Tarjan, 1972). */
function circlesOf(nestings: readonly Nesting[]): ReadonlyMap<GroupName, GroupName> {
  const inners = Map.groupBy(nestings, ({ outer }) => outer);
  const order = new Map<GroupName, number>();
  const open: GroupName[] = [];
  const marks = new Map<GroupName, GroupName>();
  function visit(group: GroupName): number {
    const own = order.size;
    order.set(group, own);
    open.push(group);
    let first = own;
    for (const { inner } of inners.get(group) ?? [])
      if (!marks.has(inner)) first = Math.min(first, order.get(inner) ?? visit(inner));
    if (first === own) for (const one of open.splice(open.indexOf(group))) marks.set(one, group);
    return first;
  }
  for (const group of inners.keys()) if (!order.has(group)) visit(group);
  return marks;
}

/** How many groups the longest chain has that begins with a group. */
function chains(steps: readonly (readonly [GroupName, GroupName])[]): (from: GroupName) => number {
  const nexts = Map.groupBy(steps, ([from]) => from);
  const lengths = new Map<GroupName, number>();
  return function length(from: GroupName): number {
    const known = lengths.get(from);
    if (known !== undefined) return known;
    const longest = 1 + Math.max(0, ...(nexts.get(from) ?? []).map(([, next]) => length(next)));
    lengths.set(from, longest);
    return longest;
  };
}

/** The nestings of a location but for those of one modifier. */
export const readNestings = statement(
  'modifierGroups.nestings',
  (p: Param<{ account_id: number; location_id: number; modifier_id: number }>) => sql<Nesting<number>>`
    select distinct used.user_group_id as "outer", used.modifier_group_id as "inner"
    from modifier_group as own join modifier_group_use as used
      on used.account_id = own.account_id and used.user_group_id = own.modifier_group_id
    where own.account_id = ${p('account_id', 'bigint')} and own.location_id = ${p('location_id', 'bigint')}
      and used.modifier_id <> ${p('modifier_id', 'bigint')}`,
);
