/** Measures the service; --help tells how. Progress goes to stderr, the tables to stdout. */
import { writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../generate/tool.ts';
import { pythonCache } from '../python.ts';
import type { Bench, Figure, Options } from './bench.ts';
import { benches, firstBenches } from './benches.ts';
import { machineFacts } from './rig/machine.ts';
import { plotOf } from './rig/plot.ts';
import { comparedWithRecord, record } from './rig/record.ts';
import { report } from './rig/report.ts';
import { startServer } from './rig/server.ts';

const help = `usage: npm run bench -- [NAME…] [OPTION…]

Without a name, the benches marked * run. A name selects every bench that begins with it; "all" selects all.

${benches.map(({ name, about }) => `  ${name.padEnd(20)} ${firstBenches.some((one) => one.name === name) ? '*' : ' '} ${about}`).join('\n')}

  --quick               shorter and smaller: shows that the bench works, not how fast the service is
  --rounds N            of each side (3)
  --seconds S           of each round (1.5)
  --connections A,B     (1,16,64)
  --against DIRECTORY   another checkout of the service to take turns with, in menuReads
  --record              keep the ratios of this run as those that later runs are compared with
  --plot                draw requests a second and p99 over connections into docs/connections.svg
  --set NAME=VALUE      an environment variable of the service, such as WORKERS=2; may be repeated

Where an operation was recorded, its ratio to the SQL of the same run is compared with that of the record, so that a slide
is seen on any machine. An operation beside its own SQL needs Python 3.11 or newer with venv, for pgbench. It stays in ${pythonCache}.`;

/** A command line that cannot be carried out; its message is one line. */
class UsageError extends Error {}

const interrupted = Promise.withResolvers<never>();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => interrupted.reject(new Error('interrupted')));
}

try {
  await main();
} catch (error) {
  console.error(`bench: ${(error as Error).message}`);
  process.exit(error instanceof UsageError ? 2 : 1);
}

async function main(): Promise<void> {
  const { values, positionals } = readArguments();
  if (values.help) return console.log(help);
  const chosen = choose(positionals);
  const options = readOptions(values);
  if (values.record && options.quick) throw new UsageError('--record takes a whole run, not a --quick one');
  if (values.plot && options.connections.length < 2)
    throw new UsageError('--plot needs several --connections');
  const started = performance.now();
  const say = (line: string) =>
    console.error(`${Math.round((performance.now() - started) / 1000)} s  ${line}`);
  const [load = 0] = loadavg();
  if (load > availableParallelism() / 2) {
    // The single process of the service would then get a smaller share of the cores than the many of PostgreSQL.
    say(`this machine is busy (load ${load.toFixed(1)}): ratios come out lower than on a quiet one`);
  }
  say('starting PostgreSQL and filling it');
  const server = await startServer();
  try {
    const results: { table: Bench['table']; rows: string[][] }[] = [];
    const figures: Figure[] = [];
    const note = (figure: Figure) => figures.push(figure);
    for (const bench of chosen) {
      const rows = await Promise.race([bench.run({ server, options, say, note }), interrupted.promise]);
      results.push({ table: bench.table, rows });
    }
    results.push(...comparedWithRecord(figures));
    const command = ['npm run bench --', ...process.argv.slice(2)].join(' ').replace(/ --$/, '');
    console.log(`\`${command}\` on ${machineFacts(server.version, load)}\n\n${report(results)}`);
    if (values.record) record(figures);
    if (values.plot) writeFileSync(join(root, 'docs/connections.svg'), plotOf(figures));
  } finally {
    await server.stop();
  }
}

function readArguments() {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  try {
    return parseArgs({
      options: {
        help: { ...flag, short: 'h' },
        quick: flag,
        rounds: text,
        seconds: text,
        connections: text,
        against: text,
        record: flag,
        plot: flag,
        set: { ...text, multiple: true },
      },
      allowPositionals: true,
    });
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('. ', 1)[0]}; see --help`);
  }
}

function choose(names: string[]): Bench[] {
  if (names.length === 0) return firstBenches;
  if (names.includes('all')) return benches;
  const unknown = names.find((name) => !benches.some((bench) => bench.name.startsWith(name)));
  if (unknown !== undefined) throw new UsageError(`there is no bench ${unknown}; see --help`);
  return benches.filter((bench) => names.some((name) => bench.name.startsWith(name)));
}

function readOptions(values: ReturnType<typeof readArguments>['values']): Options {
  const quick = values.quick ?? false;
  return {
    quick,
    rounds: whole('rounds', values.rounds ?? (quick ? '1' : '3')),
    seconds: positive('seconds', values.seconds ?? (quick ? '0.5' : '1.5')),
    connections: (values.connections ?? '1,16,64').split(',').map((one) => whole('connections', one)),
    ...(values.against !== undefined && { against: resolve(values.against) }),
    environment: Object.fromEntries((values.set ?? []).map(assignment)),
  };
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new UsageError(`--${name} takes numbers above 0, not "${text}"`);
}

function whole(name: string, text: string): number {
  if (Number.isInteger(Number(text))) return positive(name, text);
  throw new UsageError(`--${name} takes whole numbers, not "${text}"`);
}

function assignment(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`--set takes NAME=VALUE, not "${text}"`);
  return [text.slice(0, at), text.slice(at + 1)];
}
