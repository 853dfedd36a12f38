import { clockOf, dayMs } from './clock.ts';
import type { Hours } from './hours.ts';
import { type Schedule, scheduleOf } from './schedule.ts';

// Levels that take turns and are never open together begin again each week, so none has to be followed for long.
const mostTurns = 100;

/**
 * When all levels are next open together after a time when they are not; null when that never comes.
 * @param levels null is always open
 * @param now Unix milliseconds
 */
export function nextOpening(levels: (Hours | null)[], timezone: string, now: number): number | null {
  const clock = clockOf(timezone);
  const schedules = levels.flatMap((hours) => (hours ? [scheduleOf(hours, clock)] : []));
  let at = now;
  let states = schedules.map((schedule) => schedule.at(at));
  for (let turn = 0; turn < mostTurns; turn++) {
    const closed = states.filter(({ isOpen }) => !isOpen);
    if (closed.length === 0 && at > now) return at;
    // Open: the first that closes. Closed: none can open before the last of them does.
    const changes = (closed.length > 0 ? closed : states).map(({ nextChange }) => nextChange ?? Infinity);
    at = closed.length > 0 ? Math.max(...changes) : Math.min(...changes);
    if (at === Infinity) return null;
    // A level that is open for years is looked at once.
    states = states.map((state, place) =>
      (state.nextChange ?? Infinity) > at ? state : (schedules[place] as Schedule).at(at),
    );
  }
  return null;
}

/** The start of the next day. */
export function nextDay(timezone: string, now: number): number {
  const clock = clockOf(timezone);
  return clock.startAt((Math.floor(clock.wallAt(now) / dayMs) + 1) * dayMs);
}
