import { Temporal } from 'temporal-polyfill';

/**
 * Local time in a zone. Wall times are milliseconds since 1970-01-01T00:00 as a clock on the wall shows them;
 * instants are Unix milliseconds. This is the only place that decides how daylight saving affects hours. A skipped
 * time stands for the first instant after the gap. Of a repeated time, a start takes the first and an end the second.
 */
export interface Clock {
  wallAt(instant: number): number;
  startAt(wall: number): number;
  endAt(wall: number): number;
}

export const dayMs = 86_400_000;

/**
 * @param timeZone IANA name
 * @param earliest instant that the clock is asked about; wall times may lie three days before it
 */
export function clockFrom(timeZone: string, earliest: number): Clock {
  const stretches = createStretches(timeZone, earliest - 4 * dayMs);
  return {
    wallAt: (instant) => instant + stretches.first(({ until }) => instant < until).offset,
    startAt: (wall) => {
      const { from, offset } = stretches.first((one) => wall < one.until + one.offset);
      return Math.max(wall - offset, from);
    },
    endAt: (wall) => {
      // No clock goes back by more than a day, so nothing that begins later shows this time again.
      stretches.first(({ until, offset }) => wall + dayMs < until + offset);
      const { until, offset } = stretches.last((one) => wall >= one.from + one.offset);
      return Math.min(wall - offset, until);
    },
  };
}

/** A time in which local time is always as far from UTC. Milliseconds. */
interface Stretch {
  from: number;
  until: number;
  offset: number;
}

// In their order; looked up in the tables of the platform when they are first needed.
function createStretches(timeZone: string, earliest: number) {
  const known = [stretchAt(timeZone, earliest)];
  return {
    first(holds: (stretch: Stretch) => boolean): Stretch {
      for (let index = 0; ; index++) {
        const stretch = known[index] ?? stretchAt(timeZone, known[index - 1]?.until ?? earliest);
        known[index] = stretch;
        if (stretch.until === Infinity || holds(stretch)) return stretch;
      }
    },
    /** Of those that are known. */
    last: (holds: (stretch: Stretch) => boolean): Stretch => known.findLast(holds) ?? (known[0] as Stretch),
  };
}

function stretchAt(timeZone: string, instant: number): Stretch {
  const moment = Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(timeZone);
  return {
    from: instant,
    until: moment.getTimeZoneTransition('next')?.epochMilliseconds ?? Infinity,
    offset: moment.offsetNanoseconds / 1e6,
  };
}
