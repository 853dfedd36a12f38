/** Puts the service through faults under load and checks that what was acknowledged is true; --help tells how. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Undoing } from './deployment/deployment.ts';
import { faults } from './faults.ts';
import { table } from './report.ts';
import { isBroken, run } from './run.ts';

const plants = ['early-response', 'lost-event', 'repeated-call'] as const;
const names = [...faults.embedded, ...faults.external].map(({ name }) => name);

const help = `usage: make chaos [MINUTES=N] [SEED=N], or node test/chaos/main.ts [OPTION…]

Runs the service with its embedded Postgres, or two processes of it on a Postgres of their own, under a mixed load of
reads and writes, while one fault after another befalls them. After each fault everything comes to rest, and all that
was acknowledged, every event and every delivery is compared with a model. Prints a line for each fault and a table at
the end. Fails when a rule was broken, with the seed, the rule and the history of the record.

  --minutes N     how long faults are begun (2)
  --seed N        gives the same faults in the same order, and clients with the same intentions
  --only FAULT    only this fault; may be repeated
  --keep-going    go on after a broken rule, with a fresh deployment
  --plant BUG     a service with a bug, which must be found: ${plants.join(', ')}

Faults:
${[...faults.embedded, ...faults.external].map(({ name, about }) => `  ${name.padEnd(26)}${about}`).join('\n')}`;

/** A command line that cannot be carried out; its message is one line. */
class UsageError extends Error {}

const say = (line: string) => console.log(line);
const undoing = new Undoing();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => undoing.run().finally(() => process.exit(1)));

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  console.error(`chaos: ${(error as Error).message}`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
// Whatever a broken service leaves open must not keep this process alive.
process.exit();

async function main(): Promise<boolean> {
  const values = readArguments();
  if (values.help) {
    say(help);
    return true;
  }
  const { only = [], plant } = values;
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new UsageError(`there is no fault ${unknown}; see --help`);
  if (plant !== undefined && !plants.some((one) => one === plant))
    throw new UsageError(`there is no bug ${plant} to plant; see --help`);
  const minutes = number('--minutes', values.minutes ?? '2', 0.01, 100_000);
  const seed = number('--seed', values.seed ?? String(Math.floor(Math.random() * 1e6)), 0, 1e12);
  const logs = mkdtempSync(join(tmpdir(), 'chaos-logs-'));
  say(`SEED=${seed} MINUTES=${minutes}`);
  const env: Record<string, string> = plant ? { NODE_OPTIONS: `--import=${moduleOf(plant)}` } : {};
  const keepGoing = values['keep-going'] ?? false;
  const result = await run({ minutes, seed, only, env, keepGoing, logs, undoing, say });
  say(table(result.rounds));
  const broken = isBroken(result);
  if (broken) say(`what the processes printed is in ${logs}`);
  else rmSync(logs, { recursive: true });
  return !broken;
}

function readArguments() {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  try {
    return parseArgs({
      options: {
        help: { ...flag, short: 'h' },
        minutes: text,
        seed: text,
        only: { ...text, multiple: true },
        'keep-going': flag,
        plant: text,
      },
    }).values;
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('. ', 1)[0]}; see --help`);
  }
}

function number(option: string, text: string, least: number, most: number): number {
  const value = text === '' ? Number.NaN : Number(text);
  if (value >= least && value <= most) return value;
  throw new UsageError(`${option} takes a number from ${least} to ${most}, not "${text}"`);
}

function moduleOf(plant: string): string {
  return fileURLToPath(new URL(`./plants/${plant}.ts`, import.meta.url));
}
