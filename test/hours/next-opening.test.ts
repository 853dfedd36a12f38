import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import type { Hours } from '../../src/hours/hours.ts';
import { nextDay, nextOpening } from '../../src/hours/next-opening.ts';
import { Minutes, minuteMs } from './oracle.ts';
import { someHours } from './some-hours.ts';

const from = Date.parse('2026-01-01T00:00Z');
const until = Date.parse('2026-12-31T00:00Z');
const seed = Number(process.env['HOURS_SEED'] ?? Date.now() % 2_147_483_647);
const dayMinutes = 1440;

t.test(`the next opening of several levels, minute by minute (HOURS_SEED=${seed})`, async () => {
  const minutes = new Minutes('Europe/Berlin', from, until);
  const levels = fc.array(someHours(from), { minLength: 1, maxLength: 3 });
  const moment = fc.integer({ min: 3 * dayMinutes, max: 250 * dayMinutes });
  fc.assert(
    fc.property(levels, moment, (hours, place) => {
      const all = hours.map((one) => minutes.openMinutes(one));
      const isOpen = (at: number) => all.every((open) => open[at] === 1);
      // In the last days windows may be cut short.
      const last = 355 * dayMinutes;
      let next = place + 1;
      while (next < last && !(isOpen(next) && !isOpen(next - 1))) next += 1;
      const found = nextOpening(hours, 'Europe/Berlin', from + place * minuteMs);
      const expected = next < last ? from + next * minuteMs : null;
      // Of levels that take turns for months it is not known, and later than the minutes go nothing is compared.
      if (found === null && next > place + 14 * dayMinutes) return;
      if (expected === null && found !== null) assert.ok(found >= from + last * minuteMs);
      else assert.equal(found, expected);
    }),
    { seed, numRuns: 60 },
  );
});

t.test('levels that are never open together have none, and neither has what is always open', async (t) => {
  const on = (day: 'mon' | 'tue'): Hours => ({
    weekly: [{ days: [day], from: '10:00', minutes: 60 }],
    dates: [],
    valid_from: null,
    valid_until: null,
  });
  t.equal(nextOpening([on('mon'), on('tue')], 'Asia/Tokyo', from), null);
  t.equal(nextOpening([null, null], 'Asia/Tokyo', from), null);
  t.equal(nextOpening([], 'Asia/Tokyo', from), null);
  t.equal(nextOpening([{ ...on('mon'), valid_until: '2025-01-01' }], 'Asia/Tokyo', from), null);
  const far = { ...on('mon'), valid_from: '2031-01-01' };
  t.equal(nextOpening([far, null], 'Asia/Tokyo', from), Date.parse('2031-01-06T01:00Z'));
});

t.test('the next day starts when the local date changes, even where midnight is skipped', async (t) => {
  const next = (zone: string, now: string) => new Date(nextDay(zone, Date.parse(now))).toISOString();
  t.equal(next('Asia/Tokyo', '2026-06-15T14:59:59Z'), '2026-06-15T15:00:00.000Z');
  t.equal(next('Asia/Tokyo', '2026-06-15T15:00:00Z'), '2026-06-16T15:00:00.000Z');
  t.equal(next('Europe/Berlin', '2026-10-25T00:30:00Z'), '2026-10-25T23:00:00.000Z', 'a day of 25 hours');
  t.equal(next('Africa/Cairo', '2026-04-23T20:00:00Z'), '2026-04-23T22:00:00.000Z', '00:00 is 01:00');
});
