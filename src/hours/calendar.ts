import { dayMs } from './clock.ts';
import { type Hours, weekdays } from './hours.ts';

/** Hours by day. Days are counted from 1970-01-01. */
export interface Calendar {
  /** Those that start on the day, earliest first; `from` in minutes since its midnight. */
  windowsOn(day: number): { from: number; minutes: number }[];
  /**
   * The days to examine from this one on, including the two before it, since their windows may reach into it. Days
   * that equal those two weeks before are left out.
   */
  stretchesFrom(day: number): { first: number; last: number }[];
}

/** The windows of `hours` by day, with the dates that differ from the week. */
export function calendarOf({ weekly, dates, valid_from, valid_until }: Hours): Calendar {
  const ofWeekday = weekdays.map((weekday) => inOrder(weekly.filter(({ days }) => days.includes(weekday))));
  const ofDate = new Map(dates.map(({ date, windows }) => [dayOf(date), inOrder(windows)]));
  const first = valid_from === null ? -Infinity : dayOf(valid_from);
  const last = valid_until === null ? Infinity : dayOf(valid_until);
  // Days that differ from those of a week before.
  const turns = [...ofDate.keys(), first, last + 1].filter(Number.isFinite).sort((a, b) => a - b);

  return {
    windowsOn(day) {
      if (day < first || day > last) return [];
      return ofDate.get(day) ?? ofWeekday[((day % 7) + 7) % 7] ?? [];
    },
    stretchesFrom(today) {
      const stretches = [{ first: today - 2, last: today + ordinaryDays }];
      for (const turn of turns) {
        const latest = stretches.at(-1) as { last: number };
        if (turn + ordinaryDays <= latest.last) continue;
        if (turn - 2 <= latest.last + 1) latest.last = turn + ordinaryDays;
        else stretches.push({ first: turn - 2, last: turn + ordinaryDays });
      }
      return stretches;
    },
  };
}

/** After the last day that differs; two weeks show whether anything happens in an ordinary one. */
const ordinaryDays = 15;

function inOrder(windows: { from: string; minutes: number }[]) {
  return windows
    .map(({ from, minutes }) => ({ from: minutesOf(from), minutes }))
    .sort((a, b) => a.from - b.from);
}

function minutesOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
}

function dayOf(date: string): number {
  return Date.parse(date) / dayMs;
}
