import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Round, type Sample, sampleOf, warmUpMs } from './closed-loop.ts';
import type { BenchServer } from './server.ts';
import { asText, type Statement, sessionSettings } from './wire.ts';

// pgbench takes no more scripts in one run.
const mostScripts = 128;

/** The version of the pgbench on this machine; undefined when there is none. */
export function pgbenchVersion(): string | undefined {
  const { stdout } = spawnSync('pgbench', ['--version'], { encoding: 'utf8' });
  return stdout ? /[\d.]+/.exec(stdout)?.[0] : undefined;
}

/**
 * The SQL side run by pgbench. Each script is one call, and each transaction one script at random; every connection
 * prepares the statements when it first needs them, by SQL, since pgbench's own prepared mode knows no null and takes
 * the `:MI` of a time format for a variable.
 */
export function pgbench(
  { connection, directory }: BenchServer,
  targets: Statement[][][],
): (round: Round) => Promise<Sample> {
  const variants = Math.max(...targets.map((calls) => calls.length));
  const calls = targets.slice(0, Math.floor(mostScripts / variants)).flat();
  const texts = [...new Set(calls.flat().map(({ text }) => text))];
  const scripts = mkdtempSync(join(directory, 'pgbench-'));
  const files = calls.map((call, index) => {
    const file = join(scripts, `${index}.sql`);
    writeFileSync(file, call.map((statement) => script(statement, texts.indexOf(statement.text))).join(''));
    return file;
  });

  return async ({ connections, seconds }) => {
    const log = join(scripts, 'log');
    await promisify(execFile)(
      'pgbench',
      [
        ...['--host', connection.host, '--port', String(connection.port), '--username', connection.user],
        ...['--client', String(connections), '--jobs', connections > 1 ? '2' : '1'],
        ...['--time', String(Math.ceil(seconds + warmUpMs / 1000)), '--no-vacuum'],
        ...['--log', '--log-prefix', log],
        ...texts.flatMap((_, index) => ['--define', `prepared${index}=0`]),
        ...files.flatMap((file) => ['--file', file]),
        connection.database,
      ],
      { env: { ...process.env, PGOPTIONS: options } },
    );
    return readLogs(scripts);
  };
}

const options = Object.entries(sessionSettings)
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(' ');

function script({ text, values }: Statement, index: number): string {
  if (values === undefined) return `${text};\n`;
  const literals = values.map((value) => {
    const literal = asText(value);
    return literal === null ? 'null' : `'${literal.replaceAll("'", "''")}'`;
  });
  return [
    `\\if :prepared${index} = 0`,
    `prepare s${index} as ${text};`,
    `\\set prepared${index} 1`,
    '\\endif',
    `execute s${index}(${literals.join(', ')});\n`,
  ].join('\n');
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
