import { type FieldError, parameterError } from '../http/errors.ts';

interface Availability {
  is_available?: boolean;
  unavailable_until?: string | null;
}

/**
 * What the schema cannot say: an item that is off until some time is off, and that time is yet to come.
 * @throws 422
 */
export function requireSensibleAbsence({ is_available, unavailable_until }: Availability): void {
  if (unavailable_until == null) return;
  const errors: FieldError[] = [];
  const field = '/unavailable_until';
  if (is_available === true)
    errors.push({ field, code: 'conflict', message: 'cannot be set on an available item' });
  if (Date.parse(unavailable_until) <= Date.now())
    errors.push({ field, code: 'past', message: 'is in the past' });
  if (errors.length > 0) throw parameterError(errors);
}
