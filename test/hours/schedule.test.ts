import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { clockOf } from '../../src/hours/clock.ts';
import type { Hours } from '../../src/hours/hours.ts';
import { scheduleOf } from '../../src/hours/schedule.ts';
import { Minutes, minuteMs } from './oracle.ts';
import { someHours } from './some-hours.ts';

const from = Date.parse('2026-01-01T00:00Z');
const until = Date.parse('2028-01-08T00:00Z');
// From the third day on, as the first windows may have begun before the first minute.
const firstCompared = from + 3 * 1440 * minuteMs;
const lastCompared = Date.parse('2028-01-01T00:00Z');

const zones = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe', // half an hour of daylight saving
  'Africa/Casablanca', // clocks go back for Ramadan
  'Asia/Tokyo', // none
];
const seed = Number(process.env['HOURS_SEED'] ?? Date.now() % 2_147_483_647);

for (const zone of zones) {
  t.test(`two years of random hours in ${zone}, minute by minute (HOURS_SEED=${seed})`, async () => {
    const minutes = new Minutes(zone, from, until);
    fc.assert(
      fc.property(someHours(from), (hours) => {
        const open = minutes.openMinutes(hours);
        assert.deepEqual(changesOf(hours, zone), changesIn(open));
      }),
      { seed, numRuns: 8 },
    );
  });

  t.test(`hours at any moment in ${zone}, however long the clock has run (HOURS_SEED=${seed})`, async () => {
    const minutes = new Minutes(zone, from, until);
    fc.assert(
      fc.property(someHours(from), fc.array(fc.nat(729 * 1440), { minLength: 20 }), (hours, places) => {
        const open = minutes.openMinutes(hours);
        for (const place of places) {
          const instant = from + (place + 1440 * 2) * minuteMs;
          const schedule = scheduleOf(hours, clockOf(zone));
          assert.equal(
            schedule.at(instant).isOpen,
            open[place + 1440 * 2] === 1,
            new Date(instant).toISOString(),
          );
        }
      }),
      { seed, numRuns: 4 },
    );
  });
}

function changesOf(hours: Hours, zone: string): string[] {
  const schedule = scheduleOf(hours, clockOf(zone));
  const changes = [];
  let { isOpen, nextChange } = schedule.at(firstCompared);
  changes.push(`${new Date(firstCompared).toISOString()} ${isOpen}`);
  while (nextChange !== null && nextChange < lastCompared) {
    const instant: number = nextChange;
    ({ isOpen, nextChange } = schedule.at(instant));
    changes.push(`${new Date(instant).toISOString()} ${isOpen}`);
  }
  return changes;
}

function changesIn(open: Uint8Array): string[] {
  const changes = [];
  const first = (firstCompared - from) / minuteMs;
  for (let place = first; from + place * minuteMs < lastCompared; place++) {
    if (place > first && open[place] === open[place - 1]) continue;
    changes.push(`${new Date(from + place * minuteMs).toISOString()} ${open[place] === 1}`);
  }
  return changes;
}
