import { clockOf } from './clock.ts';

/**
 * The instant that a request names, in Unix milliseconds.
 * @param text RFC 3339, or local time without an offset
 * @param timezone IANA name
 */
export function instantOf(text: string, timezone: string): number {
  if (/(Z|[+-]\d\d:\d\d)$/.test(text)) return Date.parse(text);
  const wall = Date.parse(`${text}Z`);
  return clockOf(timezone).startAt(wall);
}
