import { execFile } from 'node:child_process';
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
// @ts-expect-error the driver's own way of writing values, which has no types
import driver from 'pg/lib/utils.js';
import { pythonEnvironment } from '../../python.ts';
import type { Statement } from './capture.ts';
import { type Round, type Sample, sampleOf, warmUpMs } from './closed-loop.ts';
import type { BenchServer } from './server.ts';

/** The program, in the version of the embedded server; installed when it is not there yet. */
export function pgbenchProgram(say: (line: string) => void): string {
  const environment = pythonEnvironment(join(import.meta.dirname, '../requirements.txt'), say);
  const [program] = globSync('lib/python*/site-packages/embedded_postgres/pginstall/bin/pgbench', {
    cwd: environment,
  });
  if (!program) throw new Error(`there is no pgbench in ${environment}`);
  return join(environment, program);
}

/**
 * Statements run by pgbench, which stands in for "the database alone". As in closedLoop every connection has targets of
 * its own and visits them in turn. It prepares each statement, on its first call, and executes it by SQL: pgbench's own
 * prepared mode knows no null and takes the `:MI` of a time format for a variable.
 * @param targets for each target and variant the statements of one call.
 */
export function pgbench(
  program: string,
  { connection, directory }: BenchServer,
  targets: Statement[][][],
): (round: Round) => Promise<Sample> {
  const scratch = mkdtempSync(join(directory, 'pgbench-'));
  const file = join(scratch, 'calls.sql');
  writeFileSync(file, script(targets));

  return async ({ connections, seconds }) => {
    const args = [
      ...['--host', connection.host, '--port', String(connection.port), '--username', connection.user],
      ...['--client', String(connections), '--jobs', String(Math.min(connections, 2)), '--no-vacuum'],
      ...[
        '--time',
        String(Math.ceil(seconds + warmUpMs / 1000)),
        '--log',
        '--log-prefix',
        join(scratch, 'log'),
      ],
      ...['--define', `bench_connections=${connections}`, '--define', 'bench_turn=0', '--file', file],
    ];
    const env = { ...process.env, PGOPTIONS: sessionSettings };
    await promisify(execFile)(program, [...args, connection.database], { env }).catch(({ stderr }) => {
      throw new Error(/^pgbench: error: .*$/m.exec(stderr)?.[0] ?? `pgbench failed: ${stderr}`);
    });
    return readLogs(scratch);
  };
}

/** The settings that the service gives its own sessions, see src/db/database.ts. */
const sessionSettings = '-c statement_timeout=10000 -c lock_timeout=5000';

// Variables are a connection's own. Their names are long so that no `:word` within a value is taken for one.
function script(targets: Statement[][][]): string {
  const variants = Math.max(...targets.map((calls) => calls.length));
  const texts = [
    ...new Set(
      targets
        .flat(2)
        .filter(isPrepared)
        .map(({ text }) => text),
    ),
  ];
  const calls = targets.flatMap((own) =>
    Array.from({ length: variants }, (_, variant) =>
      (own[variant % own.length] as Statement[]).map((statement) => execution(statement, texts)).join(''),
    ),
  );
  const [count, connection] = [targets.length, `(:client_id % ${targets.length})`];
  return [
    '\\if :bench_turn = 0\n',
    ...texts.map((text, index) => `prepare s${index} as ${text};\n`),
    '\\endif\n',
    `\\set bench_own (${count} - 1 - ${connection}) / :bench_connections + 1\n`,
    `\\set bench_target ${connection} + :bench_connections * (:bench_turn % :bench_own)\n`,
    `\\set bench_call :bench_target * ${variants} + :bench_turn / :bench_own % ${variants}\n`,
    '\\set bench_turn :bench_turn + 1\n',
    ...choice(calls),
  ].join('');
}

function isPrepared({ values }: Statement): boolean {
  return values !== undefined;
}

function execution({ text, values }: Statement, texts: string[]): string {
  if (values === undefined) return `${text};\n`;
  return `execute s${texts.indexOf(text)}(${values.map(literal).join(', ')});\n`;
}

function literal(value: unknown): string {
  const written: string | Buffer | null = driver.prepareValue(value);
  if (written === null) return 'null';
  return typeof written === 'string' ? pg.escapeLiteral(written) : `'\\x${written.toString('hex')}'`;
}

// The branches of one `\if` are tried one after the other; of two levels, hundreds cost a few microseconds.
const branches = 32;

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

/** A line a call: connection, number, microseconds, script, and when it ended in seconds and microseconds. */
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
