/*
 * What the last recorded run came to, so that a slide is seen. Requests a second say little on another machine, or on
 * this one when it is busy; the ratio to the SQL of the same rounds says the same on any of them, more or less.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Figure, Table } from '../bench.ts';

/** Requests a second ÷ those of the SQL, by operation and connections. */
type Recorded = Record<string, Record<string, number>>;

const file = new URL('../recorded.json', import.meta.url);

/** Less than this of what was recorded is a slide and not noise. */
const least = 0.8;

const table: Table = {
  heading: ['compared with the record', 'connections', 'API ÷ SQL', 'recorded', 'now ÷ recorded', ''],
  notes: [
    `Below ${least} the service has become slower beside its SQL, or the SQL faster by itself, unless this machine is ` +
      'busy: then the single process of the service gets a smaller share of the cores than the many of PostgreSQL.',
  ],
};

/** A table of what this run and the recorded one have both measured; none when that is nothing. */
export function comparedWithRecord(figures: readonly Figure[]): { table: Table; rows: string[][] }[] {
  const recorded = read();
  const rows = figures.flatMap(({ operation, connections, ratio }) => {
    const before = recorded[operation]?.[connections];
    if (before === undefined) return [];
    const change = ratio / before;
    const verdict = change < least ? 'slower' : '';
    return [
      [operation, String(connections), ratio.toFixed(3), before.toFixed(3), change.toFixed(2), verdict],
    ];
  });
  return rows.length > 0 ? [{ table, rows }] : [];
}

/** Keeps the figures; what this run has not measured stays as it was recorded. */
export function record(figures: readonly Figure[]): void {
  const recorded = read();
  for (const { operation, connections, ratio } of figures)
    recorded[operation] = { ...recorded[operation], [connections]: Number(ratio.toFixed(3)) };
  writeFileSync(file, `${JSON.stringify(recorded, null, 2)}\n`);
}

function read(): Recorded {
  return JSON.parse(readFileSync(file, 'utf8'));
}
