/*
 * Concurrent toggles as one statement with all their events; db/shared-statement.ts explains how calls come together.
 * Calls for one record take turns within the statement: the record gets the state, version and stamp of the last one,
 * and each call has its own event and response.
 *
 * What the statement locks, and in which order, depends on the kind of record: the CTE `turns` has the calls for
 * which it could lock everything.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { type Json, jsonObject, rfc3339 } from '../db/json.ts';
import { type Calls, type Outcome, passedOver } from '../db/shared-statement.ts';
import type { Param, Statement } from '../db/statement.ts';
import { stamped } from '../http/conditional.ts';
import { isAvailable, pendingReturn, type Switched } from './absence.ts';
import type { Reach } from './reach.ts';
import { type Switching, toggledFrom } from './switches.ts';
import type { Shown } from './update.ts';
import { change, list, type Written, written } from './write.ts';

/** A call without If-Match; whether one with If-Match succeeds would depend on its turn. */
export type Toggle = Reach & Written & Switching;

/** The result of a call, by its place among the calls. */
export type Turn<T> = Shown<T> & { place: number };

/** The columns of several calls. */
export interface Toggles extends Reach, Written {
  stamps: number[];
  request_ids: (string | null)[];
  client_ids: string[];
}

/**
 * Performs the calls with one statement.
 * @param paths the columns of the records' paths
 */
export async function takeTurns<Call extends Toggle, Paths extends object, T>(
  statement: Statement<Toggles & Paths, Turn<T>>,
  database: Database,
  calls: Calls<Call>,
  paths: Paths,
): Promise<Outcome<Shown<T>[]>[]> {
  const [{ account_id, location_ids }] = calls;
  const turns = await statement(database, {
    account_id,
    location_ids,
    ...paths,
    stamps: calls.map(({ stamp }) => stamp),
    request_ids: calls.map(({ request_id }) => request_id),
    client_ids: calls.map(({ client_id }) => client_id),
    ...written(null),
  });
  const toggled = new Map(turns.map((turn) => [turn.place, turn]));
  return calls.map((_, place) => {
    const turn = toggled.get(place);
    return turn ? [turn] : passedOver;
  });
}

/**
 * The calls in order of arrival, each with its turn at its record.
 * @param path the columns of the record's path, its own id first, each with its array
 */
export function wantedTurns(
  p: Param<Toggles>,
  path: readonly [column: string, ids: RawBuilder<unknown>][],
): RawBuilder<unknown> {
  const columns = sql.raw(path.map(([column]) => column).join(', '));
  return sql`
    select ${columns}, stamp, request_id, client_id, place::int - 1 as place,
      row_number() over (partition by ${columns} order by place)::int as turn
    from unnest(
      ${sql.join(path.map(([, ids]) => ids))}, ${p('stamps', 'integer[]')},
      ${p('request_ids', 'text[]')}, ${p('client_ids', 'text[]')}
    ) with ordinality as call (${columns}, stamp, request_id, client_id, place)`;
}

/** CTEs that switch the records of `turns` to the state of the last turn of each, as `toggled`. */
export function toggledToLastTurn(table: Switched): RawBuilder<unknown> {
  const id = sql.ref(`${table}_id`);
  const isOn = sql`${isAvailable(table)} <> ${isOdd('last_turns.turn')}`;
  return sql`
    last_turns as (select distinct on (${id}) * from turns order by ${id}, turn desc),
    toggled as (
      update ${sql.table(table)}
      set is_available = ${isOn}, unavailable_until = null,
        unavailable_since = case when not (${isOn}) then clock_timestamp() end,
        unavailable_by = case when not (${isOn}) then last_turns.client_id end,
        version = ${sql.ref(`${table}.version`)} + last_turns.turn, stamp = last_turns.stamp,
        updated_at = clock_timestamp()
      from last_turns
      where ${sql.ref(`${table}.${table}_id`)} = ${sql.ref(`last_turns.${table}_id`)}
        and ${sql.ref(`${table}.account_id`)} = last_turns.account_id
      returning new.*, old.version as version_before,
        ${isAvailable('old')} as was_available, ${pendingReturn('old')} as was_until
    )`;
}

/**
 * The change of each turn.
 * @param shown the fields of a row of the record as the API shows them
 */
export function changeOfTurns<T>(
  table: Switched,
  shown: (row: string) => Record<string, RawBuilder<unknown>>,
): RawBuilder<unknown> {
  const json = () =>
    jsonObject<Record<string, unknown>>({ ...shown('toggled'), ...afterTurn }) as RawBuilder<Json<T>>;
  return sql`
    select place, request_id,
      ${list(change<T>({ table, json }, `${table}.toggled`, { previous, row: 'toggled' }))}, ${eTag} as etag
    from toggled join turns using (${sql.ref(`${table}_id`)})
    order by place`;
}

// Before the first turn it has its original state; after that, the number of turns decides.
const wasAvailable = sql<boolean>`(was_available = ${isOdd('turns.turn')})`;
const version = sql<number>`(version_before + turns.turn)`;
const eTag = sql<string>`'"' || ${stamped(version, sql.ref('turns.stamp'))} || '"'`;

const afterTurn = {
  is_available: sql<boolean>`not ${wasAvailable}`,
  unavailable_since: rfc3339(
    sql<Date | null>`case when ${wasAvailable} then coalesce(unavailable_since, updated_at) end`,
  ),
  unavailable_by: sql<string | null>`case when ${wasAvailable} then turns.client_id end`,
  version,
};

// The first turn cancels a planned return.
const previous = toggledFrom(wasAvailable, sql`turns.turn > 1 or was_until is null`, sql.ref('was_until'));

function isOdd(number: string): RawBuilder<boolean> {
  return sql`(${sql.ref(number)} % 2 = 1)`;
}
