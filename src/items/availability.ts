import { type HoursInput, hoursErrors, withCompleteHours } from '../hours/hours.ts';
import { type Absence, requireSensibleAbsence } from '../records/absence.ts';

/**
 * The body of a create or update, with its hours in the form in which they are stored.
 * @throws 422 for all errors at once that no schema can express, such as those of an absence and of hours
 */
export function sensible<Body extends Absence & { hours?: HoursInput | null }>(body: Body) {
  requireSensibleAbsence(body, hoursErrors(body.hours, ''));
  return withCompleteHours(body);
}
