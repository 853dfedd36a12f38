import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import type { Json } from '../db/json.ts';
import { type FieldError, parameterError } from '../http/errors.ts';

/** When something can be had, in local time; the contract says what each field means. */
export type Hours = components['schemas']['Hours'];
export type HoursInput = components['schemas']['HoursInput'];
export type Weekday = components['schemas']['Weekday'];

/** In the order of the numbers that Unix time has for them: its first day was a Thursday. */
export const weekdays = ['thu', 'fri', 'sat', 'sun', 'mon', 'tue', 'wed'] as const satisfies Weekday[];

/** Hours as they are stored and shown: with every field. */
export function completeHours(hours: HoursInput | null): Hours | null {
  if (!hours) return null;
  const { weekly, dates = [], valid_from = null, valid_until = null } = hours;
  return { weekly, dates, valid_from, valid_until };
}

/**
 * A body with its hours in the form in which they are stored; without hours, the body itself.
 * @throws 422 for errors in the hours that no schema can express
 */
export function withCompleteHours<Body extends { hours?: HoursInput | null }>(body: Body) {
  const { hours } = body;
  if (hours === undefined) return body as Body & { hours?: Hours | null };
  const errors = hoursErrors(hours, '');
  if (errors.length > 0) throw parameterError(errors);
  return { ...body, hours: completeHours(hours) };
}

/**
 * Errors in hours that no schema can express: a day that is named twice, bounds out of order.
 * @param hours may violate their schema
 * @param pointer leads to the object in the body that contains them
 */
export function hoursErrors(hours: HoursInput | null | undefined, pointer: string): FieldError[] {
  const errors: FieldError[] = [];
  const { dates, valid_from, valid_until } = hours ?? {};
  const named = new Set<unknown>();
  for (const [place, one] of (Array.isArray(dates) ? dates : []).entries()) {
    const date = one?.date;
    if (named.has(date))
      errors.push({
        field: `${pointer}/hours/dates/${place}/date`,
        code: 'duplicate',
        message: 'is named twice',
      });
    named.add(date);
  }
  if (valid_from && valid_until && valid_until < valid_from)
    errors.push({
      field: `${pointer}/hours/valid_until`,
      code: 'conflict',
      message: 'is before valid_from',
    });
  return errors;
}

/** Hours of a row as the API shows them. */
export function shownHours(column: RawBuilder<unknown>): RawBuilder<Json<Hours | null>> {
  return sql<Json<Hours | null>>`${column}`;
}
