/*
 * Sets the availability of many records in one call: a statement that applies all rows of its body, or none. The
 * calls differ in the records that their rows may name.
 */
import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import { type Json, jsonObject } from '../db/json.ts';
import type { Param, Statement } from '../db/statement.ts';
import type { Stamped } from '../http/conditional.ts';
import { isAvailable, pendingReturn, type Switched } from './absence.ts';
import { type FoundRow, mostRecords, type NamedRow, type Names, requireDistinct } from './named-rows.ts';
import { type Reach, withinReach } from './reach.ts';
import type { RecordKind } from './record-kind.ts';
import { absenceNotes, previousOfSwitch, type Switching, switchEventTypes } from './switches.ts';
import { change, list, raised, type TouchOptions, type Written, writeOf } from './write.ts';

type Outcome = components['schemas']['AvailabilityOutcome'];

/** The result for one record. */
export type RowResult<Kind extends Switched, T> = { [Id in `${Kind}_id`]: number | null } & {
  [Shown in Kind]: T | null;
} & { external_id: string | null; result: Outcome };

/** The same with the place of its row; one for each record if a row names several. */
export interface ResultRow<Kind extends Switched, T> extends FoundRow {
  outcome: Outcome;
  result: Json<RowResult<Kind, T>>;
}

/** The rows by their columns, as the statement takes them. */
export interface Rows {
  ids: (number | null)[];
  external_ids: (string | null)[];
  availables: boolean[];
  untils: (string | null)[];
  /** Whether the row mentions `unavailable_until`. */
  plans: boolean[];
  /** Whether the record comes back by its hours, at the moment that `Returns` has for it. */
  restores: boolean[];
}

/** The moments of return of the records that rows with `restore` name, by their columns. */
export interface Returns {
  returned_ids: number[];
  returned_untils: string[];
}

/** The parameters of the statement, in addition to those of its scope. */
export type AvailabilityValues = Reach & Rows & Returns & Written & Switching;

/** Which records the rows may name. */
export interface Scope<V> extends TouchOptions {
  /** Whether a record is in scope; `row` is its name in the query. */
  contains: (p: Param<V>, row: string) => RawBuilder<boolean>;
}

/** What calls on one kind of record share. */
export type SwitchedKind<Kind extends Switched, T> = Names<Kind> & Pick<RecordKind<never, T>, 'json'>;

/** The rows of a body by their columns. */
export function rowsOf<Kind extends Switched>(table: Kind, rows: readonly NamedRow<Kind>[]): Rows {
  return {
    ids: rows.map((row) => row[`${table}_id`] ?? null),
    external_ids: rows.map(({ external_id = null }) => external_id),
    availables: rows.map(({ is_available }) => is_available),
    untils: rows.map(({ unavailable_until = null }) => unavailable_until),
    plans: rows.map(({ unavailable_until }) => unavailable_until !== undefined),
    restores: rows.map(({ restore }) => restore !== undefined),
  };
}

/**
 * The results as the body of the response.
 * @throws 422 when nothing was changed, since two rows name the same record, or all rows together name too many.
 */
export function resultsOf<Kind extends Switched, T>(
  names: Names<Kind>,
  rows: readonly ResultRow<Kind, T>[],
): Json<{ data: RowResult<Kind, T>[] }> {
  requireDistinct(names, rows);
  return `{"data":[${rows.map(({ result }) => result).join(',')}]}` as Json<{ data: RowResult<Kind, T>[] }>;
}

/** The statement of a call: the changes, their events and the result of each row. */
export function availabilityWrite<V extends AvailabilityValues, Kind extends Switched, T>(
  name: string,
  kind: SwitchedKind<Kind, T>,
  { contains, ...touched }: Scope<V>,
): Statement<V, ResultRow<Kind, T>> {
  const table = sql.table(kind.table);
  const id = idOf(kind);
  // Rows are locked in the order of ids, as in every write of more than one, and compared only then.
  return writeOf<V, ResultRow<Kind, T>>(name, (p) => ({
    before: sql`
    wanted as (${wantedRows(p)}),
    named as materialized (
      select id from wanted where id is not null
      union all
      select ${id(kind.table)} from wanted join ${table} using (external_id)
      where wanted.external_id is not null and ${contains(p, kind.table)}
        and ${sql.ref(`${kind.table}.account_id`)} = ${p('account_id', 'bigint')}
      limit ${mostRecords + 1}
    ),
    locked as (
      select * from ${table}
      where ${contains(p, kind.table)} and ${withinReach(p, kind.table)}
        and ${id(kind.table)} = any (array(select id from named)) and not ${areTooMany}
      order by ${id(kind.table)} for no key update
    ),
    matched as (${matchedRows(id('locked'))}),
    found as (${foundRows(p, id('matched'), kind.json('matched'))})`,
    change: sql`
    ${switchOfFound(kind, p)} and not exists (select from found where place > first_place)
    returning ${list(shownOfSwitch(kind))}`,
    ...touched,
    response: sql`
    select wanted.place, ${outcome} as outcome, ${resultJson(kind)} as result, found.first_place,
      ${areTooMany} as are_too_many
    from wanted
    left join found using (place)
    left join changed on changed.id = found.id
    order by wanted.place, found.id`,
  }));
}

/** The update that switches those records of `found` that differ from what is wanted; further conditions may follow. */
export function switchOfFound(kind: { table: Switched }, p: Param<Switching & Stamped>): RawBuilder<unknown> {
  const values: Record<string, RawBuilder<unknown>> = {
    is_available: sql.ref('found.becomes_available'),
    unavailable_until: sql.ref('found.returns_at'),
    ...absenceNotes(p, kind.table, sql.ref('found.becomes_available')),
    ...raised(p, kind.table),
  };
  return sql`
    update ${sql.table(kind.table)}
    set ${sql.join(Object.entries(values).map(([name, value]) => sql`${sql.ref(name)} = ${value}`))}
    from found
    where ${idOf(kind)(kind.table)} = found.id and ${sql.ref(`${kind.table}.account_id`)} = found.account_id
      and found.differs`;
}

/** What that update returns. */
export function shownOfSwitch<Kind extends Switched, T>(kind: SwitchedKind<Kind, T>) {
  return [
    ...change(kind, switchEventTypes(kind.table), { previous: previousOfSwitch }),
    idOf(kind)('new').as('id'),
  ];
}

function idOf({ table }: { table: Switched }): (row: string) => RawBuilder<number> {
  return (row) => sql.ref<number>(`${row}.${table}_id`);
}

const areTooMany = sql<boolean>`((select count(*) from named) > ${mostRecords})`;

function wantedRows(p: Param<Rows>): RawBuilder<unknown> {
  return sql`
    select id, external_id, is_available, unavailable_until, has_plan, restores, place::int - 1 as place
    from unnest(
      ${p('ids', 'bigint[]')}, ${p('external_ids', 'text[]')}, ${p('availables', 'boolean[]')},
      ${p('untils', 'timestamptz[]')}, ${p('plans', 'boolean[]')}, ${p('restores', 'boolean[]')}
    ) with ordinality as wanted (id, external_id, is_available, unavailable_until, has_plan, restores, place)`;
}

// One hash join for each way to name a record, however many rows the planner expects.
function matchedRows(id: RawBuilder<number>): RawBuilder<unknown> {
  const columns = sql`locked.*, wanted.place, wanted.is_available as wants_available,
      wanted.unavailable_until as wanted_until, wanted.has_plan, wanted.restores`;
  return sql`
      select ${columns} from wanted join locked on ${id} = wanted.id
      union all
      select ${columns} from wanted join locked on locked.external_id = wanted.external_id
      where wanted.external_id is not null`;
}

/**
 * The wanted rows whose records exist, with the state each is to get, or as readers see it if it has that state
 * already.
 */
function foundRows(
  p: Param<Returns>,
  id: RawBuilder<number>,
  shown: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`
    select place, min(place) over (partition by ${id}) as first_place, ${id} as id, account_id, external_id,
      becomes_available, returns_at, differs, case when not differs then ${shown} end as shown
    from matched
    left join unnest(${p('returned_ids', 'bigint[]')}, ${p('returned_untils', 'timestamptz[]')})
      as returned (id, until) on returned.id = ${id}
    ${comparedRows(sql`when restores then returned.until`)}
    where not restores or returned.id is not null`;
}

/**
 * Joins to the rows of `matched` whether each record is to become available, or else when it returns, and whether that
 * differs from what readers see. A return that has passed while the statement waited does not count.
 * @param restored the case of a return by its hours, if there can be one
 */
export function comparedRows(restored: RawBuilder<unknown> = sql``): RawBuilder<unknown> {
  const until = pendingReturn('matched');
  return sql`
    cross join lateral (
      select case
        when wants_available then null
        ${restored}
        when has_plan then wanted_until
        else ${until} end as wanted_return
    ) as plan
    cross join lateral (
      select wants_available or coalesce(wanted_return <= now(), false) as becomes_available,
        case when wanted_return > now() then wanted_return end as returns_at
    ) as ending
    cross join lateral (
      select (becomes_available, returns_at) is distinct from (${isAvailable('matched')}, ${until}) as differs
    ) as comparison`;
}

const outcome = sql<Outcome>`case
    when changed.id is not null then 'changed'
    when found.id is not null then 'unchanged'
    else 'not_found' end`;

function resultJson<Kind extends Switched, T>({
  table,
}: SwitchedKind<Kind, T>): RawBuilder<Json<RowResult<Kind, T>>> {
  return jsonObject<Record<string, unknown>>({
    [`${table}_id`]: sql`coalesce(found.id, wanted.id)`,
    external_id: sql`case when found.id is null then wanted.external_id else found.external_id end`,
    result: outcome,
    [table]: sql`coalesce(changed.resource, found.shown)`,
  }) as never;
}
