/*
 * The absence of a record, which kitchens call "86". Items and modifiers are made unavailable, for good or until some
 * time. From that time on readers see the record as available; its row stays as the last event reported it until a
 * worker, or the next writer, records the return.
 */
import { type RawBuilder, sql } from 'kysely';
import { columns, rfc3339 } from '../db/json.ts';
import type { Caller } from '../http/caller.ts';
import { stamped } from '../http/conditional.ts';
import { type FieldError, insufficientScope, parameterError } from '../http/errors.ts';

/** The tables of records that are switched. */
export type Switched = 'item' | 'modifier';

/** The fields of a body that concern an absence. */
export interface Absence {
  is_available?: boolean;
  unavailable_until?: string | null;
  restore?: string;
}

const availabilityFields: readonly string[] = ['is_available', 'unavailable_until', 'restore'];

/** The fields that describe the record; the others say whether it is available now. */
export function describingFields(fields: object): string[] {
  return Object.keys(fields).filter((field) => !availabilityFields.includes(field));
}

/**
 * The contract permits updates with availability:write; a schema cannot say with which bodies.
 * @throws 403 when the body describes the record and the caller may only switch it
 */
export function requireScopeFor(body: object, caller: Caller): void {
  if (describingFields(body).length > 0 && !caller.scopes.has('menus:write'))
    throw insufficientScope(['menus:write']);
}

/**
 * @throws 422 unless a record that is unavailable until some time is unavailable now and that time is in the future;
 *   also reports the further errors.
 */
export function requireSensibleAbsence(body: Absence, further: readonly FieldError[] = []): void {
  const errors = [...absenceErrors(body, ''), ...further];
  if (errors.length > 0) throw parameterError(errors);
}

/** The errors of an absence; `pointer` leads to its object in the body. */
export function absenceErrors(
  { is_available, unavailable_until, restore }: Absence,
  pointer: string,
): FieldError[] {
  const errors: FieldError[] = [];
  if (restore !== undefined) {
    const others = [
      ...(is_available === true ? ['is_available'] : []),
      ...(unavailable_until === undefined ? [] : ['unavailable_until']),
    ];
    for (const other of others)
      errors.push({
        field: `${pointer}/restore`,
        code: 'conflict',
        message: `cannot be combined with this ${other}`,
      });
  }
  if (unavailable_until == null) return errors;
  const field = `${pointer}/unavailable_until`;
  if (is_available === true)
    errors.push({ field, code: 'conflict', message: 'cannot be combined with is_available: true' });
  if (Date.parse(unavailable_until) <= Date.now())
    errors.push({ field, code: 'past', message: 'is in the past' });
  return errors;
}

/** Whether the record is available at this moment. */
export function isAvailable(row: string): RawBuilder<boolean> {
  return sql`(${absenceColumns(row).is_available} or ${hasReturned(row)})`;
}

/** Whether the time of its absence is over. */
export function hasReturned(row: string): RawBuilder<boolean> {
  return sql`coalesce(${absenceColumns(row).unavailable_until} <= now(), false)`;
}

/** When it returns, if that is yet to come. */
export function pendingReturn(row: string): RawBuilder<Date | null> {
  return sql`case when not ${hasReturned(row)} then ${absenceColumns(row).unavailable_until} end`;
}

/** The availability as readers see it, instead of what is stored. */
export function seenAvailability(row: string) {
  return { is_available: isAvailable(row), unavailable_until: rfc3339(pendingReturn(row)) };
}

/** Its ETag, quotes included: it changes at the moment of the return, before anything is written. */
export function switchedETag(row: string): RawBuilder<string> {
  const { version, stamp } = absenceColumns(row);
  return sql`'"' || ${stamped(version, stamp)} || case when ${hasReturned(row)} then '-restored' else '' end || '"'`;
}

/**
 * Since when it is unavailable and which client made it so. This changes only together with the availability, so no
 * event has its earlier value.
 */
export function notedAbsence(row: string) {
  const { unavailable_since, unavailable_by } = absenceColumns(row);
  // A process of the previous release does not clear them.
  const whileOff = <T>(column: RawBuilder<T>) =>
    sql<T | null>`case when not ${isAvailable(row)} then ${column} end`;
  return {
    unavailable_since: rfc3339(whileOff(unavailable_since)),
    unavailable_by: whileOff(unavailable_by),
  };
}

/** The columns of an absence, which both tables have. */
export function absenceColumns(row: string) {
  return columns<Switched>('item', row);
}
