/** Runs the service for hours under a steady load and checks that it needs no more as time goes by; --help tells how. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { plot, roundUp } from '../../../scripts/plot.ts';
import { Undoing } from '../deployment/deployment.ts';
import { retentionDays } from './calendar.ts';
import { days, type Moment, soak } from './soak.ts';
import { verdicts } from './verdicts.ts';

const help = `usage: make chaos SOAK=1 [MINUTES=N] [OUT=DIRECTORY], or node test/chaos/soak/main.ts [OPTION…]

Runs one process of the service on a Postgres of its own under a steady load of reads, toggles, imports and calls with
keys, with webhooks to a receiver that is healthy, one that is slow and one that is dead. The clock of Postgres jumps
ahead by a day ${days} times in the run, so that what is kept for ${retentionDays} days comes and goes. From then on memory,
descriptors and tables must not grow.

  --minutes N       how long it runs (120)
  --out DIRECTORY   where soak.csv and soak.svg are written (a new one below the system's temporary directory)`;

const say = (line: string) => console.log(line);
const undoing = new Undoing();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => undoing.run().finally(() => process.exit(1)));

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  console.error(`soak: ${(error as Error).message}`);
  process.exitCode = 1;
} finally {
  await undoing.run();
}

async function main(): Promise<boolean> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    options: { help: { type: 'boolean' }, minutes: text, out: text },
  });
  if (values.help) {
    say(help);
    return true;
  }
  const minutes = Number(values.minutes ?? 120);
  if (!(minutes >= 1)) throw new Error(`--minutes takes a number from 1 on, not "${values.minutes}"`);
  const out = resolve(values.out ?? mkdtempSync(join(tmpdir(), 'soak-')));
  mkdirSync(out, { recursive: true });
  const moments: Moment[] = [];
  try {
    for await (const moment of soak({ minutes, undoing, logs: out, say })) moments.push(moment);
  } finally {
    write(out, minutes, moments);
    say(`soak.csv and soak.svg are in ${out}`);
  }
  const found = verdicts(moments);
  for (const { line } of found) say(line);
  return found.every(({ isGood }) => isGood);
}

function write(out: string, minutes: number, moments: readonly Moment[]): void {
  const columns = [...new Set(moments.flatMap(({ sample }) => Object.keys(sample)))];
  const rows = moments.map(({ minute, day, sample }) =>
    [minute.toFixed(2), day, ...columns.map((name) => sample[name] ?? '')].join(),
  );
  writeFileSync(join(out, 'soak.csv'), `${[['minute', 'day', ...columns].join(), ...rows].join('\n')}\n`);
  const panel = (label: string, name: string) => ({
    label,
    lines: [
      {
        points: moments.flatMap(({ minute, sample: { [name]: y } }) =>
          y === undefined ? [] : { x: minute, y },
        ),
      },
    ],
  });
  const end = moments.at(-1)?.minute ?? 1;
  const step = roundUp(end / 8);
  const ticks = Array.from({ length: Math.floor(end / step) + 1 }, (_, index) => ({
    x: index * step,
    label: `${(index * step).toLocaleString('en')} min`,
  }));
  const reached = moments.find(({ day }) => day > retentionDays)?.minute;
  const svg = plot(
    `${minutes} minutes under steady load, in which ${days} days pass for the database`,
    [
      panel('RSS of the service, MiB', 'rss_mb'),
      panel('deliveries and events that wait, counted up to 10,000 of each kind', 'queue'),
      panel('requests, p99 of 5 seconds, ms', 'request_p99_ms'),
      panel('all tables, MiB', 'tables_mb'),
    ],
    {
      ticks,
      marks:
        reached === undefined
          ? []
          : [{ x: reached, label: `${retentionDays} days: the retention is reached` }],
    },
  );
  writeFileSync(join(out, 'soak.svg'), svg);
}
