/** Tests the running service against its contract with Schemathesis; --help tells how. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { operations } from '../../generated/operations.ts';
import { pythonCache, pythonEnvironment } from '../python.ts';
import { lies } from './lies.ts';
import { type Client, type Service, startReceiver, startService } from './service.ts';

const help = `usage: make conformance [MINUTES=N], or node scripts/conformance/main.ts [OPTION…]

Starts the service on its own Postgres and lets Schemathesis send requests that the contract allows and requests that
it forbids: every check, every phase, including links. First it verifies that errors planted in a contract are found.
Fails on any failure, and when an operation never succeeds.

  --minutes N     how long Schemathesis runs (3; at most 55, since a token lasts an hour)
  --seed N        random seed (1; with --minutes a new one each time, which is printed)
  --only ID       only this operation, without links; may be repeated
  --report DIR    write junit.xml and events.ndjson there

Needs Python 3.11 or newer with venv. What it installs stays in ${pythonCache}.`;

/** A command line that cannot be carried out; its message is one line. */
class UsageError extends Error {}

const say = (line: string) => console.error(`conformance: ${line}`);
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  say(interrupted.signal.aborted ? 'interrupted' : (error as Error).message);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}

interface Options {
  minutes: number;
  seed: number;
  only: string[];
  report?: string;
}

async function main(): Promise<boolean> {
  const values = readArguments();
  if (values.help) {
    console.log(help);
    return true;
  }
  const options = readOptions(values);
  const requirements = join(import.meta.dirname, 'requirements.txt');
  const programs = join(pythonEnvironment(requirements, say), 'bin');
  validateEditions(programs);
  const scratch = mkdtempSync(join(tmpdir(), 'conformance-'));
  const receiver = await startReceiver();
  let service: Service | undefined;
  try {
    service = await startService(`${scratch}-data`);
    say(`the service runs at ${service.origin}`);
    const rig = await prepare(programs, scratch, service, receiver.origin);
    return (await findsLies(rig)) && (await conforms(rig, options));
  } finally {
    await service?.stop();
    receiver.stop();
    for (const directory of [scratch, `${scratch}-data`]) rmSync(directory, { recursive: true, force: true });
  }
}

function readArguments() {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      options: {
        help: { type: 'boolean', short: 'h' },
        minutes: text,
        seed: text,
        only: { ...text, multiple: true },
        report: text,
      },
    }).values;
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('. ', 1)[0]}; see --help`);
  }
}

function readOptions({ minutes, seed, only = [], report }: ReturnType<typeof readArguments>): Options {
  const unknown = only.find((id) => !Object.hasOwn(operations, id));
  if (unknown !== undefined) throw new UsageError(`there is no operation ${unknown}`);
  const chance = Math.floor(Math.random() * 2 ** 31);
  return {
    minutes: number('--minutes', minutes ?? '3', 0.1, 55),
    seed: number('--seed', seed ?? String(minutes === undefined ? 1 : chance), 0, Number.MAX_SAFE_INTEGER),
    only,
    ...(report !== undefined && { report: resolve(report) }),
  };
}

function number(option: string, text: string, least: number, most: number): number {
  const value = text === '' ? Number.NaN : Number(text);
  if (value >= least && value <= most) return value;
  throw new UsageError(`${option} takes a number from ${least} to ${most}, not "${text}"`);
}

/** A second opinion on both editions, beside the linter's. */
function validateEditions(programs: string): void {
  const editions = ['generated/openapi.json', 'generated/openapi-3.0.json'];
  for (const edition of editions) {
    const file = resolve(import.meta.dirname, '../..', edition);
    const { status, stdout, stderr } = spawnSync(join(programs, 'openapi-spec-validator'), [file], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`${edition} is not valid: ${stdout}${stderr}`);
  }
  say(`${editions.join(' and ')} are valid to openapi-spec-validator`);
}

/** What a run of Schemathesis needs. */
interface Rig {
  program: string;
  scratch: string;
  configuration: string;
  // biome-ignore lint/suspicious/noExplicitAny: lies change it at will
  document: any;
  url: string;
  environment: Record<string, string>;
}

async function prepare(
  programs: string,
  scratch: string,
  { origin, owner, stranger }: Service,
  receiver: string,
): Promise<Rig> {
  const clients = join(scratch, 'clients.json');
  const identity = (name: string, { access_token }: Client) => ({
    name,
    fixedHeaders: [{ name: 'Authorization', value: `Bearer ${access_token}` }],
  });
  writeFileSync(
    clients,
    JSON.stringify({ auth: [identity('owner', owner), identity('stranger', stranger)] }),
  );
  const values: Record<string, string> = {
    hooks: join(import.meta.dirname, 'hooks.py'),
    clients,
    event_id: await makeEvent(origin, owner),
  };
  const template = readFileSync(join(import.meta.dirname, 'schemathesis.toml'), 'utf8');
  const configuration = join(scratch, 'schemathesis.toml');
  writeFileSync(
    configuration,
    template.replace(/\$\{(\w+)\}/g, (whole, name) => values[name] ?? whole),
  );
  return {
    program: join(programs, 'schemathesis'),
    scratch,
    configuration,
    document: await json(`${origin}/openapi.json`),
    url: `${origin}/api/v1`,
    environment: {
      CONFORMANCE_CLIENT: JSON.stringify({ client_id: owner.client_id, client_secret: owner.client_secret }),
      CONFORMANCE_RECEIVER: receiver,
      CONFORMANCE_SERVICE: JSON.stringify({
        url: `${origin}/api/v1`,
        authorization: `Bearer ${owner.access_token}`,
      }),
      CONFORMANCE_REPORT: join(scratch, 'responses.json'),
      PATH: process.env['PATH'] ?? '',
      PYTHONDONTWRITEBYTECODE: '1',
      PYTHONUNBUFFERED: '1',
    },
  };
}

async function makeEvent(origin: string, { access_token }: Client): Promise<string> {
  const headers = { Authorization: `Bearer ${access_token}` };
  await json(`${origin}/api/v1/menus/1/items/1/toggle`, { method: 'POST', headers });
  const { data } = await json(`${origin}/api/v1/events?limit=1`, { headers });
  return data[0].id;
}

// biome-ignore lint/suspicious/noExplicitAny: the caller knows what it asked for
async function json(url: string, init?: RequestInit): Promise<any> {
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`${url} returned ${response.status}: ${await response.text()}`);
  return response.json();
}

/** A gate that lets a wrong contract pass would prove nothing about the right one. */
async function findsLies(rig: Rig): Promise<boolean> {
  const document = structuredClone(rig.document);
  for (const { tell } of lies) tell(document);
  const only = lies.map(({ operationId }) => operationId);
  const { status, output } = await schemathesis(
    rig,
    document,
    only,
    ['--seed=1', '--max-examples=10', '--no-shrink'],
    'collect',
  );
  const sections = new Map(
    output.split(/^(?=_{3,} .+ _{3,}$)/m).map((section) => [/^_+ (.+) _+$/m.exec(section)?.[1], section]),
  );
  const unseen = lies.filter(({ operation, failure }) => !sections.get(operation)?.includes(`- ${failure} `));
  for (const { about, operation, failure } of unseen)
    say(`did not find the planted error of ${operation}: ${about} (${failure})`);
  if (unseen.length > 0 || status !== 1) {
    console.log(output);
    return false;
  }
  say(`${lies.length} errors planted in a contract, each of a different kind, are found`);
  return true;
}

async function conforms(rig: Rig, { minutes, seed, only, report }: Options): Promise<boolean> {
  say(`Schemathesis, ${minutes} minutes, seed ${seed}`);
  const files = report && [
    '--report=junit,ndjson',
    `--report-junit-path=${join(report, 'junit.xml')}`,
    `--report-ndjson-path=${join(report, 'events.ndjson')}`,
  ];
  const run = (only: string[], minutes: number, files: string[] = []) =>
    schemathesis(
      rig,
      rig.document,
      only,
      [`--seed=${seed}`, `--max-time=${Math.ceil(minutes * 60)}`, ...files],
      'show',
    );
  const ids = Object.keys(operations).filter((id) => only.length === 0 || only.includes(id));
  let { status } = await run(only, minutes, files || []);
  let failing = showResponses(rig, ids);
  if (status === 0 && failing.length > 0 && failing.length < ids.length) {
    // On a busy machine each gets some forty requests: too few for one that chance seldom gets right.
    say(`${failing.join(', ')} did not succeed; once more, with the time to themselves`);
    ({ status } = await run(failing, 0.5));
    failing = showResponses(rig, failing);
  }
  for (const id of failing) say(`${id} never succeeded`);
  if (status !== 0) say(`they do not agree; reproduce with --seed ${seed}`);
  else if (failing.length === 0) say('the service and its contract agree');
  return status === 0 && failing.length === 0;
}

/** Runs it to its end. @returns its exit status (1: failures) and, when collected, what it printed */
async function schemathesis(
  { program, scratch, configuration, url, environment }: Rig,
  document: object,
  only: string[],
  args: string[],
  output: 'show' | 'collect',
): Promise<{ status: number; output: string }> {
  const file = join(scratch, 'contract.json');
  writeFileSync(file, JSON.stringify(document));
  // Links lead to other operations.
  const selected = only.map((id) => `--include-operation-id=${id}`);
  if (only.length > 0) selected.push('--phases=examples,coverage,fuzzing');
  const child = spawn(
    program,
    [`--config-file=${configuration}`, 'run', file, `--url=${url}`, ...selected, ...args],
    {
      cwd: scratch,
      env: environment,
      stdio: ['ignore', output === 'show' ? 'inherit' : 'pipe', 'inherit'],
      signal: interrupted.signal,
    },
  );
  let printed = '';
  child.stdout?.setEncoding('utf8').on('data', (text) => (printed += text));
  const [status, signal] = await once(child, 'close');
  if (status === null) throw new Error(`Schemathesis ended with ${signal}`);
  return { status, output: printed };
}

/** Prints what each operation answered. @returns those that were never seen to succeed */
function showResponses({ environment }: Rig, ids: string[]): string[] {
  const { responses, refused } = JSON.parse(
    readFileSync(environment['CONFORMANCE_REPORT'] as string, 'utf8'),
  );
  const failing = ids.filter(
    (id) => !Object.keys(responses[id] ?? {}).some((status) => status.startsWith('2')),
  );
  const counts = (counted: Record<string, number> = {}) =>
    Object.entries(counted)
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([name, count]) => `${name} × ${count}`)
      .join(', ');
  console.log('\nResponses by operation');
  for (const id of ids) console.log(`  ${id.padEnd(20)} ${counts(responses[id])}`);
  console.log(
    '\nValid requests that were refused for a rule that no schema can express (UNSAYABLE in hooks.py)',
  );
  for (const [reason, operations] of Object.entries(refused as Record<string, Record<string, number>>).sort())
    console.log(`  ${reason.padEnd(24)} ${counts(operations)}`);
  const pairs = ids.flatMap((id) => Object.keys(responses[id] ?? {})).length;
  console.log(
    `\n${ids.length - failing.length} of ${ids.length} operations succeeded; ${pairs} different responses seen`,
  );
  return failing;
}
