import { type HoursInput, hoursErrors, withCompleteHours } from '../hours/hours.ts';
import { type Absence, requireSensibleAbsence } from '../records/absence.ts';

/**
 * The body of a create or update with its hours as they are stored.
 * @throws 422 for what no schema says of it, as of an absence and of hours, all of it together
 */
export function sensible<Body extends Absence & { hours?: HoursInput | null }>(body: Body) {
  requireSensibleAbsence(body, hoursErrors(body.hours, ''));
  return withCompleteHours(body);
}
