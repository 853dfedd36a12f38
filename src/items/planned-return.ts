/*
 * When an item that is restored by its hours comes back: a moment, computed before the write from the hours at that
 * time.
 */
import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import type { Database } from '../db/database.ts';
import type { AnyJson } from '../db/json.ts';
import { type Param, statement } from '../db/statement.ts';
import type { Hours } from '../hours/hours.ts';
import { noOpening, type Restore, returnOf } from '../hours/restore.ts';
import { inSlices } from '../hours/slices.ts';
import { type FieldError, parameterError } from '../http/errors.ts';
import type { Returns, Scope } from '../records/availability-rows.ts';
import { mostRecords } from '../records/named-rows.ts';
import { type Reach, withinReach } from '../records/reach.ts';
import { isReachable } from '../records/record-kind.ts';
import { type ItemKey, items } from './item.ts';

type Restoring = { restore?: Restore; hours?: Hours | null; category_id?: number };

/**
 * An update with the moment of return in place of `restore`; unchanged if it has none.
 * @throws 422 when there is no next opening
 */
export async function withReturn<Body extends Restoring>(
  database: Database,
  key: ItemKey,
  body: Body,
): Promise<Omit<Body, 'restore'> & { unavailable_until?: string | null }> {
  const { restore, ...rest } = body;
  if (!restore) return rest;
  const [found] = await selectHours(database, { ...key, new_category_id: body.category_id ?? null });
  // The update itself reports why there is none.
  if (!found) return { ...rest, unavailable_until: null };
  const levels: (Hours | null)[] = JSON.parse(found.levels);
  if (body.hours !== undefined) levels[ownLevel] = body.hours;
  const moment = returnOf(restore, { ...found, levels });
  if (moment === null) throw parameterError([noOpening('/restore')]);
  return { ...rest, unavailable_until: moment };
}

type Names = { named_ids: number[]; named_external_ids: string[] };

/** @param name of its statement */
export function returnsIn<V extends Reach>(name: string, scope: Scope<V>) {
  const select = statement(name, (p: Param<V & Reach & Names>) =>
    hoursOfItems(sql`
      ${scope.contains(p as Param<V>, 'item')} and ${withinReach(p, 'item')}
      and item.item_id = any (array(
        select unnest(${p('named_ids', 'bigint[]')})
        union all
        select item.item_id from item
        where item.external_id = any (${p('named_external_ids', 'text[]')})
          and ${scope.contains(p as Param<V>, 'item')} and item.account_id = ${p('account_id', 'bigint')}))`),
  );
  /** @throws 422 when there is no next opening */
  return async (
    database: Database,
    values: V,
    rows: components['schemas']['AvailabilityChange'][],
  ): Promise<Returns> => {
    const restoring = rows.flatMap((row, place) => (row.restore ? [{ ...row, place }] : []));
    if (restoring.length === 0) return { returned_ids: [], returned_untils: [] };
    const named_ids = restoring.flatMap(({ item_id }) => item_id ?? []);
    const named_external_ids = restoring.flatMap(({ external_id }) => external_id ?? []);
    const found = await select(database, { ...values, named_ids, named_external_ids });
    const byName = new Map(restoring.map((row) => [row.item_id ?? row.external_id, row]));
    const errors = new Map<number, FieldError>();
    const known = new Map<string, string | null>();
    const planned = await inSlices(found, ({ item_id, external_id, timezone, levels, now }) => {
      const row = byName.get(item_id) ?? byName.get(external_id ?? undefined);
      if (!row?.restore) return [];
      // Most items of a call have the same hours.
      const rules = `${row.restore} ${timezone} ${levels}`;
      const moment = known.has(rules)
        ? (known.get(rules) ?? null)
        : returnOf(row.restore, { timezone, now, levels: JSON.parse(levels) });
      known.set(rules, moment);
      if (moment === null) errors.set(row.place, noOpening(`/items/${row.place}/restore`));
      return moment === null ? [] : [{ item_id, moment }];
    });
    if (errors.size > 0) throw parameterError([...errors.values()]);
    const returns = planned.flat();
    return {
      returned_ids: returns.map(({ item_id }) => item_id),
      returned_untils: returns.map(({ moment }) => moment),
    };
  };
}

const ownLevel = 3;

interface HoursOfItem {
  item_id: number;
  external_id: string | null;
  timezone: string;
  /** Of location, menu, category and item. */
  levels: AnyJson;
  /** Unix milliseconds. */
  now: number;
}

const selectHours = statement(
  'items.restore.hours',
  (p: Param<ItemKey & { new_category_id: number | null }>) =>
    hoursOfItems(isReachable(items, p), sql`coalesce(${p('new_category_id', 'bigint')}, item.category_id)`),
);

function hoursOfItems(where: RawBuilder<unknown>, category = sql`item.category_id`): RawBuilder<HoursOfItem> {
  // Sub-selects, each a look-up by key for each item: a join would be planned over all menus.
  const of = (table: 'location' | 'menu', column: string) => sql`(
    select ${sql.ref(`${table}.${column}`)} from ${sql.table(table)}
    where ${sql.ref(`${table}.${table}_id`)} = ${sql.ref(`item.${table}_id`)}
      and ${sql.ref(`${table}.account_id`)} = item.account_id)`;
  return sql`
    select item.item_id, item.external_id, ${of('location', 'timezone')} as timezone,
      json_build_array(${of('location', 'hours')}, ${of('menu', 'hours')}, (
        select category.hours from category
        where category.category_id = ${category} and category.menu_id = item.menu_id
          and category.account_id = item.account_id), item.hours) as levels,
      floor(extract(epoch from now()) * 1000) as now
    from item
    where ${where}
    limit ${mostRecords + 1}`;
}
