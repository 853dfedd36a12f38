import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import type { Test } from 'tap';
import { root } from '../../scripts/generate/tool.ts';
import { launch, launchService, type Outcome, type Service } from '../../scripts/launch.ts';
import { cloneDatabase, encryptionKey } from './service.ts';

export { type Outcome, root };

/** A service that runs as a process of its own. */
export interface RunningService extends Omit<Service, 'outcome'> {
  /** Its greeting, and what it logged before. */
  greeting: string;
  /** Where it listens. */
  url: string;
  /** Milliseconds from its launch until it was ready. */
  readyAfter: number;
}

/**
 * Starts src/main.ts, of the project or of a copy of it, and waits until it is ready.
 * @throws what it printed, when it ends before that
 */
export async function startProcess(
  t: Test,
  env: Record<string, string>,
  directory = root,
): Promise<RunningService> {
  const launched = performance.now();
  const service = launchService({ LOG_LEVEL: 'warn', ...env }, { directory });
  t.teardown(() => service.stop('SIGKILL', 'group'));
  const { address } = await service.ready;
  return {
    ...service,
    greeting: service.printed.stdout,
    url: address,
    readyAfter: performance.now() - launched,
  };
}

/** Runs src/main.ts to its end, or another command line, in the project's root unless told otherwise. */
export async function runToEnd(
  t: Test,
  env: Record<string, string>,
  command = [process.execPath, 'src/main.ts'],
  directory = root,
): Promise<Outcome> {
  const program = launch(command, env, { directory });
  t.teardown(() => program.stop('SIGKILL', 'group'));
  return program.outcome;
}

/** A new directory for DATA_DIR; a Postgres that still runs in it when the test ends is killed. */
export function dataDirectory(t: Test): string {
  const directory = mkdtempSync(join(realpathSync(tmpdir()), 'process-test-'));
  t.teardown(() => {
    killAll(postgresOf(directory));
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

/** Process ids of all children of a process. */
export function childrenOf(parent: number): number[] {
  return processes()
    .filter(({ ppid }) => ppid === parent)
    .map(({ pid }) => pid);
}

/** The process ids that are still running. A zombie, which some containers never reap, is not. */
export function running(pids: number[]): number[] {
  return processes()
    .map(({ pid }) => pid)
    .filter((pid) => pids.includes(pid));
}

/** Kills processes, ignoring any that have already ended, as children of a killed one may have. */
export function killAll(pids: number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** A TCP port on loopback that nobody listened on a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** Clones a database with the demo account; returns the environment that points a process to it. */
export async function databaseEnvironment(t: Test): Promise<DatabaseEnvironment> {
  return environmentOf(await cloneDatabase(t));
}

type DatabaseEnvironment = { DATABASE_URL: string; ENCRYPTION_KEY: string };

/** The environment that points a process to a cloned database. */
export function environmentOf({ host = '', port, user, database }: pg.PoolConfig): DatabaseEnvironment {
  return {
    DATABASE_URL: `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`,
    ENCRYPTION_KEY: encryptionKey.toString('base64'),
  };
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
        // It ended in the meantime.
        return [];
      }
    });
}
