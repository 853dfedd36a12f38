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

/** @param timeZone IANA name */
export function clockOf(timeZone: string): Clock {
  // Names are accepted in any case; without it there are no more of them than zones.
  const name = timeZone.toLowerCase();
  const known = clocks.get(name);
  if (known) return known;
  const clock = createClock(timeZone);
  clocks.set(name, clock);
  return clock;
}

const clocks = new Map<string, Clock>();

function createClock(timeZone: string): Clock {
  const stretches = createStretches(timeZone);
  return {
    wallAt: (instant) => instant + stretches.at(stretches.placeOf(instant)).offset,
    // No clock is a day away from UTC, and none changes twice in two days: so both begin with the stretch of a day
    // before, and look no further than to the next.
    startAt: (wall) => {
      let place = stretches.placeOf(wall - dayMs);
      while (wall >= stretches.at(place).until + stretches.at(place).offset) place += 1;
      const { from, offset } = stretches.at(place);
      return Math.max(wall - offset, from);
    },
    endAt: (wall) => {
      let place = stretches.placeOf(wall - dayMs);
      while (stretches.at(place).until <= wall - stretches.at(place + 1).offset) place += 1;
      const { until, offset } = stretches.at(place);
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

// The contract has no moment before 2000, and hours are looked at from some days before on.
const earliest = Date.UTC(1999, 11);

/** Those of a zone in their order, looked up in the tables of the platform when they are first needed. */
function createStretches(timeZone: string) {
  const known = [stretchAt(timeZone, earliest)];
  /** The last where there is none at this place. */
  const at = (place: number): Stretch => {
    const last = known.at(-1) as Stretch;
    if (place < known.length || last.until === Infinity) return known[place] ?? last;
    known.push(stretchAt(timeZone, last.until));
    return at(place);
  };
  return {
    at,
    /** Of the stretch that the instant lies in. */
    placeOf(instant: number): number {
      while ((known.at(-1) as Stretch).until <= instant) at(known.length);
      let [low, high] = [0, known.length - 1];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (at(middle).until <= instant) low = middle + 1;
        else high = middle;
      }
      return low;
    },
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
