/** Generates clients as client teams do, compiles them and runs them against the service; --help tells how. */
import { existsSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Client } from './client.ts';
import { checkClient, type Outcome } from './rig/check-client.ts';
import { digestOf, readRecord, writeRecord } from './rig/record.ts';
import { startService } from './rig/service.ts';
import { missingTools } from './rig/tools.ts';

const project = resolve(import.meta.dirname, '../..');

const help = `usage: make sdk [CLIENTS="NAME…"]
       node scripts/sdk/main.ts [NAME…] [OPTION…]

Generates a client from the document that the running service publishes, compiles it, runs a scenario with it, and
compares its output with plain HTTP. Without a name, every client whose tools the machine has:
${namesIn(import.meta.dirname).join(', ')}.

  --verbose        show what the tools print even when they succeed
  --clients DIR    folder of the clients (scripts/sdk)
  --work DIR       where clients are generated and compiled; dependencies stay there (.sdk)
  --ci             fail when a tool is missing, also when no client is named
  --changed        leave out what has passed as it is (scripts/sdk/passed.json), but for a quick few: neither its
                   document nor its folder nor what runs it has changed since
  --documents DIR  read openapi.json and openapi-3.0.json from there, not from the service

Exit status: 0 all clients passed, 1 a client failed or a tool is missing, 2 invalid command line.`;

/** A command line that cannot be carried out; its message is one line. */
class UsageError extends Error {}

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => interrupted.abort(new Error('interrupted')));
}

try {
  await main();
} catch (error) {
  console.error(`sdk: ${(error as Error).message}`);
  process.exit(error instanceof UsageError ? 2 : 1);
}

async function main(): Promise<void> {
  const { values, positionals } = readArguments();
  if (values.help) return console.log(help);
  const folder = resolve(values.clients ?? import.meta.dirname);
  const documents = resolve(values.documents ?? join(project, 'generated'));
  const chosen = await load(folder, positionals);
  const digests = Object.fromEntries(chosen.map((one) => [one.name, digestOf(one, folder, documents)]));
  const record = values.changed ? readRecord(folder) : {};
  const unchanged = chosen.filter(({ name, quick }) => !quick && record[name] === digests[name]);
  const wanted = chosen.filter((client) => !unchanged.includes(client));
  const strict = values.ci || positionals.length > 0;
  const skipped = strict ? [] : wanted.filter((client) => missingTools(client).length > 0);
  if (strict) requireTools(wanted);
  const clients = wanted.filter((client) => !skipped.includes(client));
  const started = performance.now();
  const say = (line: string) => console.log(`${seconds(performance.now() - started).padStart(5)}  ${line}`);
  say('starting the service');
  const service = await startService();
  try {
    const work = resolve(values.work ?? join(project, '.sdk'));
    const outcomes = await twoAtATime(clients, (client) =>
      checkClient(client, {
        source: join(folder, client.name),
        work: join(work, client.name),
        service,
        documents: values.documents ? documents : undefined,
        say: (line) => say(`${client.name.padEnd(widest(clients))}  ${line}`),
        verbose: values.verbose ?? false,
        signal: interrupted.signal,
      }),
    );
    for (const client of skipped)
      console.log(`\nskipped ${client.name}: install ${missingTools(client).join(', ')}`);
    if (unchanged.length > 0)
      console.log(`\nunchanged since they passed: ${unchanged.map(({ name }) => name).join(', ')}`);
    report(outcomes);
    const passed = outcomes.filter(({ faults }) => faults.length === 0).map(({ name }) => name);
    // Other documents say nothing about the contract's.
    if (!values.documents)
      writeRecord(
        folder,
        Object.fromEntries(passed.map((name) => [name, digests[name] ?? ''])),
        namesIn(folder),
      );
  } finally {
    await service.stop();
  }
}

function readArguments() {
  try {
    return parseArgs({
      options: {
        help: { type: 'boolean', short: 'h' },
        verbose: { type: 'boolean', short: 'v' },
        clients: { type: 'string' },
        work: { type: 'string' },
        documents: { type: 'string' },
        ci: { type: 'boolean' },
        changed: { type: 'boolean' },
      },
      allowPositionals: true,
    });
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('. ', 1)[0]}; see --help`);
  }
}

function namesIn(folder: string): string[] {
  if (!existsSync(folder)) throw new UsageError(`there is no folder ${folder}`);
  return readdirSync(folder)
    .filter((name) => existsSync(join(folder, name, 'client.ts')))
    .sort();
}

async function load(folder: string, wanted: string[]): Promise<Client[]> {
  const names = namesIn(folder);
  const unknown = wanted.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new UsageError(`there is no client ${unknown}; there are ${names.join(', ') || 'none'}`);
  }
  const chosen = names.filter((name) => wanted.length === 0 || wanted.includes(name));
  return Promise.all(
    chosen.map(async (name): Promise<Client> => (await import(join(folder, name, 'client.ts'))).client),
  );
}

/** @throws one line with all there is to install */
function requireTools(clients: Client[]): void {
  const missing = missingTools(...clients);
  if (missing.length === 0) return;
  const ready = clients.filter((client) => missingTools(client).length === 0);
  const others =
    ready.length > 0 ? `; or run: make sdk CLIENTS="${ready.map(({ name }) => name).join(' ')}"` : '';
  throw new Error(`install ${missing.join(', ')}${others}`);
}

/** Compilers use several cores each, and half of a small machine is the service's and its database's. */
async function twoAtATime(
  clients: Client[],
  check: (client: Client) => Promise<Outcome>,
): Promise<Outcome[]> {
  const queue = clients.entries();
  const outcomes: Outcome[] = [];
  const lane = async () => {
    for (const [place, client] of queue) outcomes[place] = await check(client);
  };
  await Promise.all(availableParallelism() > 2 ? [lane(), lane()] : [lane()]);
  return outcomes;
}

function report(outcomes: Outcome[]): void {
  const failed = outcomes.filter(({ faults }) => faults.length > 0);
  for (const { name, faults, output } of failed) {
    console.log(`\n${name} failed\n${faults.join('\n')}`);
    if (output) console.log(`\nIts tools printed:\n${output}`);
  }
  console.log(`\n${outcomes.length - failed.length} passed, ${failed.length} failed`);
  if (failed.length > 0 || outcomes.length === 0) process.exitCode = 1;
}

function widest(clients: Client[]): number {
  return Math.max(...clients.map(({ name }) => name.length));
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(0)} s`;
}
