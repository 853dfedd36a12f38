/**
 * Hours as instants. A schedule is open during any of its windows; windows that touch or overlap count as one.
 * Instants are Unix milliseconds.
 */
import { calendarOf } from './calendar.ts';
import { type Clock, dayMs } from './clock.ts';
import type { Hours } from './hours.ts';

export interface Schedule {
  at(instant: number): ScheduleState;
}

export interface ScheduleState {
  isOpen: boolean;
  /** When it next opens or closes; null when it never does again. */
  nextChange: number | null;
}

export function scheduleOf(hours: Hours, clock: Clock): Schedule {
  const calendar = calendarOf(hours);
  return {
    at(instant) {
      for (const { from, until } of openTimes(instant)) {
        if (instant < from) return { isOpen: false, nextChange: from };
        if (instant < until) return { isOpen: true, nextChange: until === Infinity ? null : until };
      }
      return { isOpen: false, nextChange: null };
    },
  };

  /** From some time before the instant on, in order and apart. */
  function* openTimes(instant: number): Generator<Span> {
    const today = Math.floor(clock.wallAt(instant) / dayMs);
    const stretches = calendar.stretchesFrom(today);
    let open: Span | undefined;
    for (const [index, { first, last }] of stretches.entries()) {
      for (let day = first; day <= last; day++) {
        for (const span of spansOn(day)) {
          if (open && span.from <= open.until) open.until = Math.max(open.until, span.until);
          else {
            if (open) yield open;
            open = span;
          }
        }
      }
      // If it is open throughout two ordinary weeks, of which daylight saving changes one at most, it is always open.
      if (open && open.from <= midnight(last - 13) && open.until >= midnight(last + 1)) {
        const next = stretches[index + 1];
        open.until = next ? midnight(next.first + 1) : Infinity;
      }
    }
    if (open) yield open;
  }

  // In the order of their beginnings, since the clock keeps the order of starts.
  function spansOn(day: number): Span[] {
    return calendar
      .windowsOn(day)
      .map(({ from, minutes }) => {
        const start = day * dayMs + from * minuteMs;
        return { from: clock.startAt(start), until: clock.endAt(start + minutes * minuteMs) };
      })
      .filter(({ from, until }) => from < until);
  }

  function midnight(day: number): number {
    return clock.startAt(day * dayMs);
  }
}

/** From inclusive, until exclusive. */
interface Span {
  from: number;
  until: number;
}

const minuteMs = 60_000;
