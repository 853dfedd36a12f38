import { readFileSync } from 'node:fs';
import t from 'tap';
import { comparedWithRecord } from '../../scripts/bench/rig/record.ts';
import { root } from '../support/process.ts';

const recorded: Record<string, Record<string, number>> = JSON.parse(
  readFileSync(`${root}scripts/bench/recorded.json`, 'utf8'),
);

/** A run whose ratios to the SQL are so many times those of the record, and an operation that was never recorded. */
function run(times: number) {
  const api = { perSecond: 1, p50: 1, p99: 1 };
  const known = Object.entries(recorded).flatMap(([operation, ratios]) =>
    Object.entries(ratios).map(([connections, ratio]) => ({
      operation,
      connections: Number(connections),
      api,
      ratio: ratio * times,
    })),
  );
  return [...known, { operation: 'danceItem', connections: 16, api, ratio: 1 }];
}

t.test('a run that is slower than the recorded one, compared with its SQL, is marked', async (t) => {
  const verdicts = (times: number) =>
    comparedWithRecord(run(times)).flatMap(({ rows }) => rows.map((row) => row.at(-1)));
  t.ok(verdicts(1).length > 0, 'something is recorded');
  t.same(new Set(verdicts(1)), new Set(['']));
  t.same(new Set(verdicts(0.75)), new Set(['slower']));
  t.same(new Set(verdicts(1.5)), new Set(['']));
  t.same(comparedWithRecord(run(1).slice(-1)), [], 'what was never recorded is not compared');
});
