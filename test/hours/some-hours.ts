import fc from 'fast-check';
import { type Hours, type Weekday, weekdays } from '../../src/hours/hours.ts';
import { minuteMs } from './oracle.ts';

/** Hours with dates in the two years from a moment on, and with those on which clocks change. */
export function someHours(from: number): fc.Arbitrary<Hours> {
  const clockTime = fc
    .tuple(fc.oneof(fc.constantFrom(0, 1, 2, 3, 23), fc.nat(23)), fc.constantFrom(0, 1, 15, 30, 59))
    .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`);
  const minutes = fc.oneof(fc.constantFrom(1, 30, 60, 90, 1439, 1440), fc.integer({ min: 1, max: 1440 }));
  const window = fc.record({ from: clockTime, minutes });
  const days = fc.oneof(
    fc.constant<Weekday[]>([...weekdays]),
    fc.subarray<Weekday>([...weekdays], { minLength: 1 }),
  );
  const clockChanges = [
    '2026-03-29',
    '2026-10-25',
    '2026-11-01',
    '2026-04-05',
    '2026-02-15',
    '2026-03-22',
    '2027-03-14',
  ];
  const date = fc.oneof(
    fc.constantFrom(...clockChanges),
    fc.nat(740).map((day) => new Date(from + day * 1440 * minuteMs).toISOString().slice(0, 10)),
  );
  return fc.record({
    weekly: fc.array(fc.record({ days, from: clockTime, minutes }), { maxLength: 4 }),
    dates: fc.uniqueArray(fc.record({ date, windows: fc.array(window, { maxLength: 3 }) }), {
      maxLength: 5,
      selector: (one) => one.date,
    }),
    valid_from: fc.option(date, { freq: 3 }),
    valid_until: fc.option(date, { freq: 3 }),
  });
}
