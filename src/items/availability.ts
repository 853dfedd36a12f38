import { type RawBuilder, sql } from 'kysely';
import { type FieldError, parameterError } from '../http/errors.ts';
import type { AnyJson } from '../db/json.ts';
import { available, itemJson, storedItemJson } from './item.ts';

interface Availability {
  is_available?: boolean;
  unavailable_until?: string | null;
}

/**
 * What the schema cannot say: an item that is off until some time is off, and that time is yet to come.
 * @throws 422
 */
export function requireSensibleAbsence(body: Availability): void {
  const errors = absenceFaults(body, '');
  if (errors.length > 0) throw parameterError(errors);
}

/** The faults of an absence; `pointer` leads to its object in the body. */
export function absenceFaults(
  { is_available, unavailable_until }: Availability,
  pointer: string,
): FieldError[] {
  if (unavailable_until == null) return [];
  const errors: FieldError[] = [];
  const field = `${pointer}/unavailable_until`;
  if (is_available === true)
    errors.push({ field, code: 'conflict', message: 'cannot be set on an available item' });
  if (Date.parse(unavailable_until) <= Date.now())
    errors.push({ field, code: 'past', message: 'is in the past' });
  return errors;
}

/**
 * Whether the update of an item has switched it: as the last event told, or as readers saw it. The two differ from the
 * moment an absence is over until that is written down.
 */
export function switched(): RawBuilder<boolean> {
  return sql`(old.is_available <> new.is_available or ${available('old')} <> new.is_available)`;
}

/** The fields that the update of an item has changed: of one that is off now, as readers saw them before. */
export function previousFields(): RawBuilder<AnyJson | null> {
  return sql`changed_fields(
    case when new.is_available then ${storedItemJson('old')} else ${itemJson('old')} end, ${itemJson('new')})`;
}
