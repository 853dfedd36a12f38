/*
 * The figures of the last recorded run, to make a slide visible. Requests per second mean little on another or a busy
 * machine; the ratio to the SQL of the same rounds is about the same everywhere.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Figure, Table } from '../bench.ts';

/** Requests per second ÷ those of the SQL, by operation and connections. */
type Recorded = Record<string, Record<string, number>>;

const file = new URL('../recorded.json', import.meta.url);

/** A ratio below this share of the recorded one is a slide, not noise. */
const least = 0.8;

const table: Table = {
  heading: ['compared with the record', 'connections', 'API ÷ SQL', 'recorded', 'now ÷ recorded', ''],
  notes: [
    `Below ${least} the service has become slower beside its SQL, or the SQL faster by itself, unless this machine is ` +
      'busy: then the single process of the service gets a smaller share of the cores than the many of PostgreSQL.',
  ],
};

/** A table of what both this run and the recorded one measured; no table if they have nothing in common. */
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

/** Records the figures of this run and keeps those that it did not measure. */
export function record(figures: readonly Figure[]): void {
  const recorded = read();
  for (const { operation, connections, ratio } of figures)
    recorded[operation] = { ...recorded[operation], [connections]: Number(ratio.toFixed(3)) };
  writeFileSync(file, `${JSON.stringify(recorded, null, 2)}\n`);
}

function read(): Recorded {
  return JSON.parse(readFileSync(file, 'utf8'));
}
