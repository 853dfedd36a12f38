import { type RawBuilder, sql } from 'kysely';
import type { AnyJson } from '../db/json.ts';
import { type FieldError, parameterError } from '../http/errors.ts';
import { hasChanged } from '../records/update.ts';
import type { EventType } from '../records/write.ts';
import { describingFields, isAvailable, itemJson, storedItemJson } from './item.ts';

interface Availability {
  is_available?: boolean;
  unavailable_until?: string | null;
}

/**
 * What the schema cannot say: an item that is off until some time is off, and that time is yet to come.
 * @throws 422
 */
export function requireSensibleAbsence(body: Availability): void {
  const errors = absenceErrors(body, '');
  if (errors.length > 0) throw parameterError(errors);
}

/** The errors of an absence; `pointer` leads to its object in the body. */
export function absenceErrors(
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
 * Whether the update of an item has switched it: as the last event said, or as readers saw it. The two differ from the
 * moment an absence is over until that is written down.
 */
export function hasSwitched(): RawBuilder<boolean> {
  return sql`(old.is_available <> new.is_available or ${isAvailable('old')} <> new.is_available)`;
}

/** The events of an update that may change any field. A planned return that changes with the switch belongs to it. */
export function itemEventTypes(): RawBuilder<EventType[]> {
  return sql`array_remove(array[
    case when ${hasSwitched()} then 'item.toggled' end,
    case when ${hasChanged(describingFields)}
      or not ${hasSwitched()} and old.unavailable_until is distinct from new.unavailable_until
      then 'item.updated' end], null)`;
}

/** The fields that the update of an item has changed: of one that is off now, as readers saw them before. */
export function previousFields(): RawBuilder<AnyJson | null> {
  return sql`changed_fields(
    case when new.is_available then ${storedItemJson('old')} else ${itemJson('old')} end, ${itemJson('new')})`;
}
