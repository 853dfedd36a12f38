import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
// @ts-expect-error the driver's own formatting of values has no types
import driver from 'pg/lib/utils.js';
import { postgresTools } from '../../postgres-tools.ts';
import type { Statement } from './capture.ts';
import { type Round, type Sample, sampleOf, warmUpMs } from './closed-loop.ts';
import type { BenchServer } from './server.ts';

/** Path of the program, which is installed if missing. */
export function pgbenchProgram(say: (line: string) => void): string {
  return join(postgresTools(say), 'pgbench');
}

/**
 * Runs statements with pgbench, as the measure of "the database alone". As in closedLoop, every connection has its own
 * targets. Statements are prepared once and executed by SQL, because pgbench's own prepared mode has no null and takes
 * the `:MI` of a time format for a variable.
 * @param targets the statements of one call, for each target and variant.
 */
export function pgbench(
  program: string,
  { connection, directory }: BenchServer,
  targets: Statement[][][],
): (round: Round) => Promise<Sample> {
  const scratch = mkdtempSync(join(directory, 'pgbench-'));

  return async ({ connections, seconds }) => {
    const files = scripts(targets, connections).map((text, index) => {
      const file = join(scratch, `${index}.sql`);
      writeFileSync(file, text);
      return file;
    });
    const args = [
      ...['--host', connection.host, '--port', String(connection.port), '--username', connection.user],
      ...['--client', String(connections), '--jobs', String(Math.min(connections, 2)), '--no-vacuum'],
      ...['--time', String(Math.ceil(seconds + warmUpMs / 1000))],
      ...['--log', '--log-prefix', join(scratch, 'log')],
      ...['--define', 'bench_prepared=0'],
      ...files.flatMap((file, index) => ['--define', `bench_turn_${index}=0`, '--file', file]),
    ];
    const env = { ...process.env, PGOPTIONS: sessionSettings };
    await promisify(execFile)(program, [...args, connection.database], { env }).catch(({ stderr }) => {
      throw new Error(/^pgbench: error: .*$/m.exec(stderr)?.[0] ?? `pgbench failed: ${stderr}`);
    });
    return readLogs(scratch);
  };
}

/** The settings that the service gives its own sessions, see src/db/database.ts. */
const sessionSettings = '-c statement_timeout=10000 -c lock_timeout=3500';

// pgbench takes no more; it picks one at random for each transaction.
const mostScripts = 128;

/**
 * Gives every script the same small number of targets for each connection: small, since pgbench steps over all the
 * others one by one. The remainder is dropped, as two connections would share it.
 */
function scripts(targets: Statement[][][], connections: number): string[] {
  const each = Math.ceil(targets.length / connections / mostScripts);
  const size = Math.min(each * connections, targets.length);
  const prepared = targets.flat(2).filter(isPrepared);
  const texts = [...new Set(prepared.map(({ text }) => text))];
  return Array.from({ length: Math.floor(targets.length / size) }, (_, index) =>
    script(targets.slice(index * size, (index + 1) * size), connections, `bench_turn_${index}`, texts),
  );
}

// Each connection has its own variables. Their names are long so that no `:word` in a value looks like one.
function script(targets: Statement[][][], connections: number, turn: string, texts: string[]): string {
  const variants = Math.max(...targets.map((calls) => calls.length));
  const calls = targets.flatMap((own) =>
    Array.from({ length: variants }, (_, variant) =>
      (own[variant % own.length] as Statement[]).map((statement) => execution(statement, texts)).join(''),
    ),
  );
  const own = Math.max(1, targets.length / connections);
  return [
    '\\if :bench_prepared = 0\n',
    ...texts.map((text, index) => `prepare s${index} as ${text};\n`),
    '\\set bench_prepared 1\n\\endif\n',
    `\\set bench_target :client_id % ${targets.length} + ${connections} * (:${turn} % ${own})\n`,
    `\\set bench_call :bench_target * ${variants} + :${turn} / ${own} % ${variants}\n`,
    `\\set ${turn} :${turn} + 1\n`,
    ...choice(calls),
  ].join('');
}

function isPrepared({ values }: Statement): boolean {
  return values !== undefined;
}

function execution({ text, values }: Statement, texts: string[]): string {
  if (values === undefined) return `${text};\n`;
  const given = values.length > 0 ? `(${values.map(literal).join(', ')})` : '';
  return `execute s${texts.indexOf(text)}${given};\n`;
}

function literal(value: unknown): string {
  const written: string | Buffer | null = driver.prepareValue(value);
  if (written === null) return 'null';
  return typeof written === 'string' ? pg.escapeLiteral(written) : `'\\x${written.toString('hex')}'`;
}

// pgbench tries the branches of an `\if` in sequence; two levels need fewer tries.
const branches = 8;

function choice(calls: string[]): string[] {
  const groups = Array.from({ length: Math.ceil(calls.length / branches) }, (_, group) =>
    ifElse(`:bench_call % ${branches}`, calls.slice(group * branches, (group + 1) * branches)),
  );
  return ifElse(
    `:bench_call / ${branches}`,
    groups.map((group) => group.join('')),
  );
}

function ifElse(value: string, blocks: string[]): string[] {
  return [
    ...blocks.map((block, index) => `\\${index === 0 ? 'if' : 'elif'} ${value} = ${index}\n${block}`),
    '\\endif\n',
  ];
}

/** One line per call: connection, number, duration in microseconds, script, end in seconds and microseconds. */
function readLogs(directory: string): Sample {
  const logs = readdirSync(directory).filter((name) => name.startsWith('log.'));
  const calls = logs.flatMap((name) => {
    const lines = readFileSync(join(directory, name), 'utf8').trim().split('\n');
    rmSync(join(directory, name));
    return lines.map((line) => {
      const [, , took = 0, , seconds = 0, microseconds = 0] = line.split(' ').map(Number);
      const ended = seconds * 1000 + microseconds / 1000;
      return { started: ended - took / 1000, ended };
    });
  });
  const begin = calls.reduce((first, { started }) => Math.min(first, started), Infinity) + warmUpMs;
  return sampleOf(
    calls.filter(({ started }) => started >= begin),
    begin,
  );
}
