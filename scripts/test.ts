/**
 * Runs the tests on a Postgres of their own: `npm test`, or `npm test -- test/items/toggle-item.test.ts`. The whole
 * suite also shows which documented responses no test has seen, and fails when there is one. The tests of tools, of
 * the operator's procedures and of many processes, in test/tools/, test/procedures/ and test/cluster/, take minutes and
 * have a run of their own: `make tools`. Those in test/gates/ belong to `make gates`, that in test/portable/ to
 * `make portable`.
 */
import { existsSync, readFileSync, statfsSync } from 'node:fs';
import { chmod, glob, mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { operations } from '../generated/operations.ts';
import { loadSigningKeys } from '../src/accounts/signing-keys.ts';
import { openDatabase } from '../src/db/database.ts';
import { migrate } from '../src/db/migrate.ts';
import { createSeal } from '../src/db/seal.ts';
import { loadQuietDemo } from '../test/support/demo.ts';
import { startScratchPostgres } from '../test/support/postgres.ts';
import { encryptionKey } from '../test/support/service.ts';
import { postgresTools } from './postgres-tools.ts';
import { type FileResult, runFiles } from './test/pool.ts';

// Those that take longest: a minute and more of the slow ones, a quarter of one of the others.
const longest = [
  ...['add-an-operation', 'chaos', 'docs-page', 'docs-page-calls', 'many-processes', 'packages', 'soak'],
  ...['admin', 'backlog', 'due-endpoints', 'hostile-bodies', 'killed-database', 'readme', 'refusals'],
  ...['rekey', 'server', 'shared-statements', 'statements'],
];
const slow = ['tools', 'procedures', 'cluster', 'gates', 'portable'];
const wanted = process.argv.slice(2);
if (wanted.some((argument) => ['-h', '--help'].includes(argument))) {
  console.log(`usage: npm test [-- FILE…]

Runs these test files, or all but those of make tools, make gates and make portable.

  TEST_LOG=error   show what the services under test log
  TEST_MINUTES=60  time limit of a file (2; 6 for slow ones)`);
  process.exit(0);
}
const option = wanted.find((argument) => argument.startsWith('-'));
if (option) {
  console.error(`test: Unknown option '${option}'; see --help`);
  process.exit(2);
}
const absent = wanted.find((file) => !existsSync(file));
if (absent) {
  console.error(`test: there is no file ${absent}`);
  process.exit(2);
}
const files = dealt(
  wanted.length > 0
    ? wanted
    : await Array.fromAsync(
        glob('test/**/*.test.ts', { exclude: slow.map((folder) => `test/${folder}/**`) }),
      ),
);
// Once, before several processes look for it.
if (files.some((file) => file.includes('test/procedures/'))) installPostgresTools();
// A database is some 300 files. To copy and drop one takes a third of the time in memory, and nothing need survive.
const memory = '/dev/shm';
const place = process.env['TMPDIR'] ?? (hasRoom(memory) ? memory : tmpdir());
const scratch = await mkdtemp(join(place, 'menus-tests-'));
// Postgres may run as another user.
await chmod(scratch, 0o755);
process.env['TMPDIR'] = scratch;
const coverage = join(scratch, 'contract-coverage.txt');
const server = await startScratchPostgres();
try {
  await makeTemplate();
  const results = await runAll();
  const missing = wanted.length === 0 ? uncovered() : [];
  for (const response of missing) console.log(`no test has seen: ${response}`);
  if (results.length > 10) showSlowest(results);
  const passed = sum(results.map((one) => one.passed));
  const failed = sum(results.map((one) => one.failed));
  process.exitCode =
    failed > 0 || missing.length > 0 || passed === 0 || results.length < files.length ? 1 : 0;
  console.log(`${passed} passed, ${failed} failed`);
} finally {
  await server.stop();
  await rm(scratch, { recursive: true, force: true });
}

function installPostgresTools(): void {
  try {
    postgresTools((line) => console.error(`test: ${line}`));
  } catch (error) {
    console.error(`test: ${(error as Error).message}`);
    process.exit(2);
  }
}

/**
 * The longest first, as a long one that came last would have the machine to itself; then one of each folder in turn:
 * those of test/cluster/, with many processes each, do not run all at once.
 */
function dealt(files: string[]): string[] {
  const [long, others] = [true, false].map((wanted) =>
    files.filter((file) => longest.includes(basename(file, '.test.ts')) === wanted),
  ) as [string[], string[]];
  const folders = Object.values(Object.groupBy(others, (file) => dirname(file)));
  const most = Math.max(0, ...folders.map((some = []) => some.length));
  const inTurn = Array.from({ length: most }, (_, n) => folders.flatMap((some) => some?.[n] ?? [])).flat();
  return [...long, ...inTurn];
}

function isSlow(file: string): boolean {
  return slow.some((folder) => file.startsWith(`test/${folder}/`));
}

function hasRoom(directory: string): boolean {
  if (!existsSync(directory)) return false;
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize > 2 ** 31;
}

/** Every test file clones its database from this one. */
async function makeTemplate(): Promise<void> {
  const database = openDatabase(server.connection, { max: 1 });
  await migrate(server.connection);
  await loadSigningKeys(database, createSeal(encryptionKey));
  await loadQuietDemo(database);
  await database.destroy();
}

/** A line for each file; the whole report of those that failed. */
async function runAll(): Promise<FileResult[]> {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  const areSlow = files.every(isSlow);
  // Several times what one takes on a machine with nothing else to do.
  const minutes = process.env['TEST_MINUTES'] ?? (areSlow ? '6' : '2');
  const env = {
    ...process.env,
    TEST_MINUTES: minutes,
    TEST_SERVER: JSON.stringify({ connection: server.connection, template: server.connection.database }),
    CONTRACT_COVERAGE: coverage,
  };
  const results: FileResult[] = [];
  const options = {
    // One more than the processors, as each waits part of the time: for clocks and for what it starts.
    processes: availableParallelism() + 1,
    env,
    // A file's own test times out before that, unless something blocks its process.
    patienceSeconds: 60 * (Number(minutes) + 3),
    signal: interrupted.signal,
  };
  await runFiles(files, options, (result) => {
    results.push(result);
    if (result.failed > 0) console.log(result.report);
    const verdict = result.failed > 0 ? 'not ok' : 'ok';
    console.log(`${verdict} ${results.length} - ${result.file} # ${seconds(result)}`);
  });
  return results;
}

function showSlowest(results: readonly FileResult[]): void {
  const slowest = results.toSorted((a, b) => b.seconds - a.seconds).slice(0, 10);
  for (const result of slowest) console.log(`slowest: ${seconds(result).padStart(7)}  ${result.file}`);
}

function seconds(result: FileResult): string {
  return `${result.seconds.toFixed(1)} s`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function uncovered(): string[] {
  const seen = new Set(existsSync(coverage) ? readFileSync(coverage, 'utf8').split('\n') : []);
  const documented = Object.entries(operations).flatMap(([id, { statuses }]) =>
    statuses.map((one) => `${id} ${one}`),
  );
  console.log(
    `${documented.filter((one) => seen.has(one)).length} of ${documented.length} documented responses seen`,
  );
  return documented.filter((one) => !seen.has(one));
}
