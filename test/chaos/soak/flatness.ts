/** What was measured of one thing, by days. */
export interface Series {
  name: string;
  /** One value for each day, in order. */
  days: number[];
}

/** How a series may grow from its first to its last day. */
export interface Tolerance {
  /** Of its median. */
  share: number;
  /** What is always allowed: steps in which it grows. */
  least: number;
}

export interface Trend {
  median: number;
  /** From the first day to the last, by the slope. */
  growth: number;
  isFlat: boolean;
}

/**
 * The slope is the median of those between all pairs of days (Theil and Sen), so that a third of the days may be
 * anything, such as those on which a table was vacuumed late. Shrinking is flat.
 */
export function trendOf({ days }: Series, { share, least }: Tolerance): Trend {
  const slopes = days.flatMap((value, day) =>
    days.slice(0, day).map((earlier, other) => (value - earlier) / (day - other)),
  );
  const growth = median(slopes) * (days.length - 1);
  const middle = median(days);
  return { median: middle, growth, isFlat: growth <= Math.max(least, share * Math.abs(middle)) };
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** 0 of nothing. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
