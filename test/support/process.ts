import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import type { Test } from 'tap';
import { cloneDatabase, encryptionKey } from './service.ts';

/** What a process printed and how it ended. */
export interface Outcome {
  stdout: string;
  stderr: string;
  /** Exit status, or the signal that ended it. */
  ended: number | NodeJS.Signals;
}

/** A service that runs as a process of its own. */
export interface RunningService {
  pid: number;
  /** What it greeted with. */
  greeting: string;
  /** Where it says it listens; empty for one that only sends webhooks. */
  url: string;
  /** What it has printed so far. */
  printed: { readonly stdout: string; readonly stderr: string };
  /** Milliseconds from its launch until it was ready. */
  readyAfter: number;
  /** Sends the signal to the service alone, or as Ctrl-C does to its whole process group; waits for the end. */
  stop(signal: NodeJS.Signals, to?: 'service' | 'group'): Promise<Outcome>;
}

/** The project's root directory. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** Starts src/main.ts and waits until it is ready. @throws what it printed, when it ends before that */
export async function startProcess(t: Test, env: Record<string, string>): Promise<RunningService> {
  const launched = performance.now();
  const { pid, printed, stdout, end } = launch(t, [process.execPath, 'src/main.ts'], {
    PORT: '0',
    LOG_LEVEL: 'warn',
    ...env,
  });
  const ready = new Promise<boolean>((resolve) => {
    // The greeting is one write; a line of the log may come on either side of it.
    stdout.on('data', () => / is ready[\s\S]*\n\n/.test(printed.stdout) && resolve(true));
    end.then(() => resolve(false));
  });
  if (!(await ready)) throw new Error(`the service ended: ${JSON.stringify(await end)}`);
  return {
    pid,
    greeting: printed.stdout,
    printed,
    url: /ready at (\S+)/.exec(printed.stdout)?.[1] ?? '',
    readyAfter: performance.now() - launched,
    async stop(signal, to = 'service') {
      process.kill(to === 'group' ? -pid : pid, signal);
      return end;
    },
  };
}

/** Runs src/main.ts to its end, or another command line, in the project's root unless told otherwise. */
export async function runToEnd(
  t: Test,
  env: Record<string, string>,
  command = [process.execPath, 'src/main.ts'],
  directory = root,
): Promise<Outcome> {
  return launch(t, command, env, directory).end;
}

/** A new directory for DATA_DIR; a Postgres that still runs in it when the test ends is killed. */
export function dataDirectory(t: Test): string {
  const directory = mkdtempSync(join(realpathSync(tmpdir()), 'process-test-'));
  t.teardown(() => {
    for (const pid of postgresOf(directory)) process.kill(pid, 'SIGKILL');
    rmSync(directory, { recursive: true, force: true, maxRetries: 9 });
  });
  return directory;
}

/** Process ids of the Postgres that runs in a data directory. */
export function postgresOf(dataDir: string): number[] {
  const own = processes().filter(({ command }) => command.includes(` -D ${join(dataDir, 'postgres')} `));
  return own.map(({ pid }) => pid);
}

/** Process ids of the children of a process that run the service. */
export function servingBelow(parent: number): number[] {
  const own = processes().filter(({ ppid, command }) => ppid === parent && command.includes('main.ts'));
  return own.map(({ pid }) => pid);
}

/** Of these process ids, those that still run; a zombie, which some containers never reap, does not. */
export function running(pids: number[]): number[] {
  return processes()
    .map(({ pid }) => pid)
    .filter((pid) => pids.includes(pid));
}

/** A TCP port on loopback that nobody listened on a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** A database of its own with the demo account, as the environment of a process names it. */
export async function databaseEnvironment(t: Test): Promise<DatabaseEnvironment> {
  return environmentOf(await cloneDatabase(t));
}

type DatabaseEnvironment = { DATABASE_URL: string; ENCRYPTION_KEY: string };

/** A database cloned by a test, as the environment of a process names it. */
export function environmentOf({ host = '', port, user, database }: pg.PoolConfig): DatabaseEnvironment {
  return {
    DATABASE_URL: `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`,
    ENCRYPTION_KEY: encryptionKey.toString('base64'),
  };
}

// A process group of its own, as a shell gives one, and none of the settings of whoever runs the tests.
function launch(t: Test, [program = '', ...args]: string[], env: Record<string, string>, cwd = root) {
  const child = spawn(program, args, {
    cwd,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...inherited(), ...env },
  });
  const pid = child.pid as number;
  const printed = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => (printed.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (printed.stderr += text));
  t.teardown(() => endGroup(child));
  const end = once(child, 'close').then(
    ([status, signal]): Outcome => ({ ...printed, ended: status ?? signal }),
  );
  return { pid, printed, stdout: child.stdout, end };
}

function inherited(): NodeJS.ProcessEnv {
  const names = ['PATH', 'HOME', 'TMPDIR', 'NODE_COMPILE_CACHE'];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

function endGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
}

interface Process {
  pid: number;
  ppid: number;
  command: string;
}

// A bare Linux has no `ps`.
function processes(): Process[] {
  if (process.platform !== 'linux') {
    const { stdout } = spawnSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,command='], { encoding: 'utf8' });
    return [...stdout.matchAll(/^ *(\d+) +(\d+) +(.*)$/gm)].map(([, pid, ppid, command = '']) => ({
      pid: Number(pid),
      ppid: Number(ppid),
      command,
    }));
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
        const ppid = Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1]);
        return command ? [{ pid: Number(name), ppid, command }] : [];
      } catch {
        // It ended while we looked.
        return [];
      }
    });
}
