import { type Hours, weekdays } from '../../src/hours/hours.ts';

/**
 * Every minute of a stretch of time with the clock on the wall beside it, as `Intl` tells it. What hours mean is taken
 * from the minutes themselves: nothing is known here of offsets, gaps or repeated hours.
 */
export class Minutes {
  /** Unix minutes of the first. */
  readonly first: number;
  readonly count: number;
  // Wall minute → first and last place among the minutes that show it; -1 for one that is skipped.
  readonly #firstShown: Int32Array;
  readonly #lastShown: Int32Array;
  readonly #firstWall: number;

  constructor(timeZone: string, from: number, until: number) {
    this.first = from / minuteMs;
    this.count = (until - from) / minuteMs;
    const walls = wallMinutes(timeZone, this.first, this.count);
    this.#firstWall = Math.min(walls[0] as number, walls.at(-1) as number);
    const size = Math.max(...walls.subarray(-2 * dayMinutes)) - this.#firstWall + 1;
    this.#firstShown = new Int32Array(size).fill(-1);
    this.#lastShown = new Int32Array(size).fill(-1);
    for (let place = 0; place < walls.length; place++) {
      const wall = (walls[place] as number) - this.#firstWall;
      if (this.#firstShown[wall] === -1) this.#firstShown[wall] = place;
      this.#lastShown[wall] = place;
    }
  }

  /** For each minute, whether it is open: 1 or 0. */
  openMinutes(hours: Hours): Uint8Array {
    const open = new Uint8Array(this.count);
    const firstDay = Math.floor(this.#firstWall / dayMinutes) + 1;
    const days = Math.floor(this.#firstShown.length / dayMinutes) - 4;
    for (let day = firstDay; day < firstDay + days; day++) {
      for (const { from, minutes } of windowsOn(hours, day)) {
        const [hour, minute] = from.split(':').map(Number) as [number, number];
        const wall = day * dayMinutes + hour * 60 + minute;
        const start = this.#place(this.#firstShown, wall);
        const end = this.#place(this.#lastShown, wall + minutes);
        if (start < end) open.fill(1, start, end);
      }
    }
    return open;
  }

  // A skipped minute stands for the next that is shown.
  #place(shown: Int32Array, wall: number): number {
    for (let index = wall - this.#firstWall; index < shown.length; index++) {
      const place = shown[index] as number;
      if (place !== -1) return place;
    }
    throw new RangeError('the minutes end before this');
  }
}

export const minuteMs = 60_000;
const dayMinutes = 1440;

function windowsOn(hours: Hours, day: number) {
  const date = new Date(day * dayMinutes * minuteMs).toISOString().slice(0, 10);
  if (hours.valid_from !== null && date < hours.valid_from) return [];
  if (hours.valid_until !== null && date > hours.valid_until) return [];
  const own = hours.dates.find((one) => one.date === date);
  if (own) return own.windows;
  const name = new Date(`${date}T00:00Z`)
    .toLocaleDateString('en', { weekday: 'short', timeZone: 'UTC' })
    .toLowerCase();
  const weekday = weekdays.find((one) => one === name);
  return hours.weekly.filter(({ days }) => weekday !== undefined && days.includes(weekday));
}

// Offsets of this century change on the quarter of an hour.
function wallMinutes(timeZone: string, first: number, count: number): Int32Array {
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  const walls = new Int32Array(count);
  for (let place = 0; place < count; place += 15) {
    const parts = Object.fromEntries(
      format.formatToParts((first + place) * minuteMs).map(({ type, value }) => [type, Number(value)]),
    );
    const { year = 0, month = 0, day = 0, hour, minute } = parts;
    const wall = Date.UTC(year, month - 1, day, hour, minute) / minuteMs;
    for (let next = 0; next < 15 && place + next < count; next++) walls[place + next] = wall + next;
  }
  return walls;
}
