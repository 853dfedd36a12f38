import type { components } from '../../generated/api.ts';
import type { FieldError } from '../http/errors.ts';
import type { Hours } from './hours.ts';
import { nextDay, nextOpening } from './next-opening.ts';

/** How an unavailable record becomes available again according to its hours. */
export type Restore = components['schemas']['Restore'];

/** What that time depends on. */
export interface RestoreRules {
  timezone: string;
  /** All must hold; null is always open. */
  levels: (Hours | null)[];
  /** Unix milliseconds. */
  now: number;
}

/** The moment of return, as RFC 3339; null when there is no next opening. */
export function returnOf(restore: Restore, { timezone, levels, now }: RestoreRules): string | null {
  const instant = restore === 'next_day' ? nextDay(timezone, now) : nextOpening(levels, timezone, now);
  return instant === null ? null : new Date(instant).toISOString();
}

/** @param field the pointer to `restore` in the body */
export function noOpening(field: string): FieldError {
  return { field, code: 'no_opening', message: 'there is no next opening by the hours' };
}
