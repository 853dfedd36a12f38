/**
 * Seconds to wait after attempt 1, 2, 3 … before the next one: ten attempts over about 75 hours.
 *
 * Source: Standard Webhooks 1.0.0, "Deliverability and reliability" (its example schedule).
 */
export const retryDelaysSeconds: readonly number[] = [5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400];

/**
 * Milliseconds to wait after the failed `attempt` (1 is the first) before the next one, or null when the schedule has
 * ended. The delay varies by ±20 %, so that deliveries which failed together do not return together. `retryAfterMs`
 * is the receiver's Retry-After: a minimum for the delay, up to 24 hours. `random` returns a number in [0, 1).
 */
export function nextDelayMs(
  attempt: number,
  { retryAfterMs = 0, random = Math.random }: { retryAfterMs?: number; random?: () => number },
): number | null {
  const seconds = retryDelaysSeconds[attempt - 1];
  if (seconds === undefined) return null;
  const spread = Math.round(seconds * 1000 * (0.8 + 0.4 * random()));
  return Math.max(spread, Math.min(retryAfterMs, longestDelayMs));
}

/** The longest wait of the schedule, before it is spread, and the longest that a receiver may ask for. */
export const longestDelayMs = 86_400_000;

/**
 * The delay of a `Retry-After` header, in milliseconds from `now`: whole seconds, or a date in any of the three
 * formats of HTTP, where a past one means 0. Undefined when it is absent or malformed.
 *
 * Source: RFC 9110, sections 10.2.3 (Retry-After) and 5.6.7 (dates).
 */
export function parseRetryAfter(value: string | undefined, now: Date): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,12}$/.test(value)) return Number(value) * 1000;
  // Date.parse alone accepts far too much ("1 item"), and reads asctime's form, which names no zone, as local time.
  const date = asctime.test(value) ? `${value} GMT` : httpDate.test(value) ? value : '';
  const time = Date.parse(date);
  return Number.isNaN(time) ? undefined : Math.max(0, time - now.getTime());
}

const httpDate = /^[A-Z][a-z]{2,8}, \d\d[ -][A-Z][a-z]{2}[ -](\d{4}|\d\d) \d\d:\d\d:\d\d GMT$/;
const asctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;
