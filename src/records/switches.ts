/*
 * How a write of an item or modifier changes its availability: what is stored, and which events report it, with the
 * earlier values.
 */
import { type RawBuilder, sql } from 'kysely';
import { type AnyJson, jsonObject, rfc3339 } from '../db/json.ts';
import type { Param } from '../db/statement.ts';
import {
  type Absence,
  absenceColumns,
  hasReturned,
  isAvailable,
  pendingReturn,
  type Switched,
} from './absence.ts';
import { type Fields, hasChanged, isPresent, type NextValues } from './update.ts';
import { differing, type EventType } from './write.ts';

/** The client that switches. */
export interface Switching {
  client_id: string;
}

/**
 * The notes (since when, by whom) of a record that becomes unavailable; they stay until it is available again.
 * @param isOn whether it is available after the write
 */
export function absenceNotes(p: Param<Switching>, table: Switched, isOn: RawBuilder<unknown>) {
  const { unavailable_since, unavailable_by } = absenceColumns(table);
  const noted = <T>(value: RawBuilder<T>, known: RawBuilder<T | null>) =>
    sql<T | null>`case when not ${isOn} then case when ${isAvailable(table)} then ${value} else ${known} end end`;
  return {
    unavailable_since: noted(sql<Date>`clock_timestamp()`, unavailable_since),
    unavailable_by: noted(p('client_id', 'text'), unavailable_by),
  };
}

/** The notes (since when, by whom) of a new record. */
export function firstNotes(isAvailable: boolean, client_id: string) {
  return {
    unavailable_since: isAvailable ? null : new Date().toISOString(),
    unavailable_by: isAvailable ? null : client_id,
  };
}

type Values = Fields<Omit<Absence, 'restore'>>;

/**
 * Whether it is on after an update, according to its body. A return that has passed while the statement waited does not
 * count.
 */
export function isOnAfter(p: Param<Values>, table: Switched): RawBuilder<boolean> {
  const until = p('unavailable_until', 'timestamptz');
  return sql`case
    when ${isPresent(p, 'is_available')} then ${p('is_available', 'boolean')} or coalesce(${until} <= now(), false)
    when ${until} is not null then ${until} <= now()
    else ${absenceColumns(table).is_available} or ${hasReturned(table)} end`;
}

/** The new values of the availability fields in an update, which depend on each other. */
export function nextAvailability(p: Param<Values>, table: Switched): NextValues {
  const is_available = isOnAfter(p, table);
  // A later change of the availability ends an earlier "until".
  const unavailable_until = sql`case
    when ${is_available} then null
    when ${isPresent(p, 'unavailable_until')} then ${p('unavailable_until', 'timestamptz')}
    else ${pendingReturn(table)} end`;
  return { is_available, unavailable_until };
}

/**
 * Whether an update has switched the record, compared with the last event or with what readers saw. The two differ from
 * the moment an absence is over until that is recorded.
 */
function hasSwitched(): RawBuilder<boolean> {
  return sql`(old.is_available <> new.is_available or ${isAvailable('old')} <> new.is_available)`;
}

/** The events of an update that may change any field. A planned return that changes with the switch belongs to it. */
export function updateEventTypes(table: Switched, describing: readonly string[]): RawBuilder<EventType[]> {
  return sql`array_remove(array[
    case when ${hasSwitched()} then ${sql.lit(`${table}.toggled`)} end,
    case when ${hasChanged(describing)}
      or not ${hasSwitched()} and old.unavailable_until is distinct from new.unavailable_until
      then ${sql.lit(`${table}.updated`)} end], null)`;
}

/** The event of an update that changes the availability and nothing else. */
export function switchEventTypes(table: Switched): RawBuilder<EventType[]> {
  return sql`array[case when ${hasSwitched()}
    then ${sql.lit(`${table}.toggled`)} else ${sql.lit(`${table}.updated`)} end]`;
}

/**
 * The fields that an update has changed. For a record that is unavailable now, the earlier values are those that
 * readers saw. For one that is available they are the stored ones, since a return may pass while the statement waits
 * for its turn.
 * @param stored the fields that events compare, with the availability as stored
 */
export function previousOfUpdate(
  stored: (row: string) => Record<string, RawBuilder<unknown>>,
): RawBuilder<AnyJson | null> {
  return differing({ ...stored('old'), ...availabilityBefore() }, stored('new'));
}

/** The same for an update that changes the availability and nothing else. */
export const previousOfSwitch = differing(availabilityBefore(), {
  is_available: sql.ref('new.is_available'),
  unavailable_until: rfc3339(sql.ref<Date | null>('new.unavailable_until')),
});

function availabilityBefore() {
  return {
    is_available: sql<boolean>`case when new.is_available then old.is_available else ${isAvailable('old')} end`,
    unavailable_until: rfc3339(
      sql<Date | null>`case when new.is_available then old.unavailable_until else ${pendingReturn('old')} end`,
    ),
  };
}

/** The fields that a toggle has changed, including a planned return that it cancels. */
export const previousOfToggle = toggledFrom(
  isAvailable('old'),
  sql`old.unavailable_until is null or ${hasReturned('old')}`,
  sql.ref('old.unavailable_until'),
);

/**
 * The `previous` of a toggle.
 * @param hadNoReturn whether none was planned, or only one that has passed
 */
export function toggledFrom(
  wasAvailable: RawBuilder<boolean>,
  hadNoReturn: RawBuilder<unknown>,
  until: RawBuilder<Date>,
): RawBuilder<AnyJson> {
  return sql`case
  when ${hadNoReturn} then ${jsonObject({ is_available: wasAvailable })}
  else ${jsonObject({ is_available: wasAvailable, unavailable_until: rfc3339(until) })}
  end`;
}
