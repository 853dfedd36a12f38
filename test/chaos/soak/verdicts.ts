import { retentionDays } from './calendar.ts';
import { median, type Tolerance, trendOf } from './flatness.ts';
import { tablePrefix, watchedColumns } from './sample.ts';
import type { Moment } from './soak.ts';

export interface Verdict {
  line: string;
  isGood: boolean;
}

// A table that is vacuumed late takes another eighth; an index splits its pages as it likes.
const ofTables: Tolerance = { share: 0.15, least: 1 };

/** Whether memory, descriptors and tables stayed as they were once the retention was reached, and nothing failed. */
export function verdicts(moments: readonly Moment[]): Verdict[] {
  // A day more than is kept, for the first to have gone.
  const settled = moments.filter(({ day }) => day > retentionDays + 1);
  const byDay = [...Map.groupBy(settled, ({ day }) => day).values()];
  const columns = Object.keys(settled[0]?.sample ?? {});
  const watched: [string, Tolerance][] = [
    ...Object.entries(watchedColumns),
    ...columns
      .filter((name) => name.startsWith(tablePrefix))
      .map((name) => [name, ofTables] as [string, Tolerance]),
  ];
  const enough = byDay.length >= 6;
  return [
    {
      line: `${byDay.length} days after the retention was reached${enough ? '' : ': TOO FEW to tell'}`,
      isGood: enough,
    },
    ...watched.map(([name, tolerance]) => {
      const daily = byDay.map((day) => median(day.flatMap(({ sample }) => sample[name] ?? [])));
      const { median: middle, growth, isFlat } = trendOf({ name, days: daily }, tolerance);
      const figures = `median ${middle.toFixed(1)}, grew by ${growth.toFixed(1)}`;
      return { line: `${name.padEnd(28)} ${figures}${isFlat ? '' : ': NOT FLAT'}`, isGood: isFlat };
    }),
    failures(moments),
  ];
}

function failures(moments: readonly Moment[]): Verdict {
  const sum = (name: string) => moments.reduce((total, { sample }) => total + (sample[name] ?? 0), 0);
  const [requests, failed] = [sum('requests'), sum('failed')];
  // When the clock jumps, what Postgres was timing at that moment has taken too long.
  const isGood = failed <= requests / 1_000;
  return { line: `${failed} of ${requests} requests failed${isGood ? '' : ': TOO MANY'}`, isGood };
}
