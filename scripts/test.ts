/**
 * Runs the tests on a Postgres of their own: `npm test`, or `npm test -- test/items/toggle-item.test.ts`. The whole
 * suite also shows which documented answers no test has seen, and fails when there is one.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { glob, mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { operations } from '../generated/operations.ts';
import { loadSigningKeys } from '../src/accounts/signing-keys.ts';
import { openDatabase } from '../src/db/database.ts';
import { migrate } from '../src/db/migrate.ts';
import { createSeal } from '../src/db/seal.ts';
import { loadQuietDemo } from '../test/support/demo.ts';
import { startScratchPostgres } from '../test/support/postgres.ts';
import { encryptionKey } from '../test/support/service.ts';

const wanted = process.argv.slice(2);
if (wanted.some((argument) => argument.startsWith('-'))) {
  const isHelp = wanted.some((argument) => ['-h', '--help'].includes(argument));
  console.log('usage: npm test [-- FILE…]; TEST_LOG=error shows what the services log');
  process.exit(isHelp ? 0 : 2);
}
const absent = wanted.find((file) => !existsSync(file));
if (absent) {
  console.error(`test: there is no file ${absent}`);
  process.exit(2);
}
const files = wanted.length > 0 ? wanted : await Array.fromAsync(glob('test/**/*.test.ts'));
const scratch = await mkdtemp(join(tmpdir(), 'menus-tests-'));
const coverage = join(scratch, 'contract-coverage.txt');
const server = await startScratchPostgres();
try {
  await makeTemplate();
  const failed = await runTap();
  const missing = wanted.length === 0 ? uncovered() : [];
  for (const answer of missing) console.log(`no test has seen: ${answer}`);
  process.exitCode = failed || missing.length > 0 ? 1 : 0;
} finally {
  await server.stop();
  await rm(scratch, { recursive: true, force: true });
}

/** Every test file clones its database from this one. */
async function makeTemplate(): Promise<void> {
  const database = openDatabase(server.connection, { max: 1 });
  await migrate(database);
  await loadSigningKeys(database, createSeal(encryptionKey));
  await loadQuietDemo(database);
  await database.destroy();
}

async function runTap(): Promise<boolean> {
  const tap = spawn(
    'tap',
    ['--disable-coverage', '--reporter=tap', '--timeout=120', `--jobs=${availableParallelism()}`, ...files],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        TEST_SERVER: JSON.stringify({ connection: server.connection, template: server.connection.database }),
        CONTRACT_COVERAGE: coverage,
      },
    },
  );
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => tap.kill(signal));
  const exit = once(tap, 'exit');
  const totals = await showResults(createInterface(tap.stdout));
  const [code] = await exit;
  console.log(`${totals.passed} passed, ${totals.failed} failed`);
  return code !== 0 || totals.failed > 0 || totals.passed === 0;
}

/** A line for each file; the whole report of those that failed. Counts are those of TAP's last line. */
async function showResults(lines: AsyncIterable<string>): Promise<{ passed: number; failed: number }> {
  let report: string[] = [];
  let totals = '';
  for await (const line of lines) {
    if (line.startsWith('# { total')) totals = line;
    if (/^(not )?ok /.test(line)) {
      if (line.startsWith('not')) console.log(report.join('\n'));
      console.log(line);
      report = [];
    } else {
      report.push(line);
    }
  }
  const count = (kind: string) => Number(new RegExp(`\\b${kind}: (\\d+)`).exec(totals)?.[1] ?? 0);
  return { passed: count('pass'), failed: count('fail') };
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
