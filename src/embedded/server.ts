/**
 * The embedded database: a real Postgres, started and stopped with the service, below one data directory.
 *
 *   DATA_DIR/postgres       the cluster (PGDATA) with its Unix socket, open to the account of Postgres alone
 *   DATA_DIR/postgres.log   what Postgres reports
 *
 * Actors: the service; its Postgres, in a process group of its own, so that Ctrl-C reaches only the service, which
 * then stops in order; perhaps a Postgres orphaned by a service that was killed.
 * Guarantee: one service per data directory. The service listens on a lock socket named after the directory, which
 * the kernel closes with the process: a kill -9 leaves no lock. Whoever holds it owns every Postgres of the
 * directory, stops an orphan, and starts its own. One that ends by itself, or is killed, is started again on the same
 * data; never is a database initialised in place of one that was there.
 */
import { once } from 'node:events';
import * as fs from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { keepRunning } from './keep-running.ts';
import {
  accepts,
  type Connection,
  connectionAt,
  DataDirectoryInUse,
  digest,
  readPidFile,
  runs,
  startPatience,
  startServer,
} from './postmaster.ts';
import { findPrograms, openDataDirectory, prepareCluster, systemDirectory } from './programs.ts';

export { DataDirectoryInUse } from './postmaster.ts';

/** A running embedded database. */
export interface EmbeddedPostgres {
  /** libpq-style connection for pg.Pool: host is the directory of the Unix socket. */
  readonly connection: Connection;
  /** Whether its data directory had no database yet. */
  readonly isNew: boolean;
  /** Rejects, with an Error of one line, when the server has ended and cannot be started again. */
  readonly lost: Promise<never>;
  /** Stops the server we started (fast shutdown), waits until it is gone, frees the data directory. Idempotent. */
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  /** PostgreSQL settings by name, such as `{ max_connections: '50' }`. */
  settings?: Record<string, string>;
  /** Receives one line each time the server has ended and is started again. */
  report?: (line: string) => void;
  /** How long a server that has ended is tried to start again, in ms. */
  patienceMs?: number;
}

/**
 * Starts the server of `dataDir`, which it initialises when there is none yet, and keeps it running. A process that
 * ends without `stop()` still asks the server to shut down; only one that is killed leaves it to the next start.
 * @throws DataDirectoryInUse when another service runs on it, else an Error of one line that says what to do.
 */
export async function startEmbedded(
  dataDir: string,
  { settings = {}, report = () => {}, patienceMs = 30_000 }: EmbeddedOptions = {},
): Promise<EmbeddedPostgres> {
  const programs = await findPrograms();
  const directory = openDataDirectory(dataDir, programs.account);
  const lock = await holdLock(directory);
  const start = (signal?: AbortSignal) => startServer(directory, programs, settings, signal);
  try {
    const isNew = await prepareCluster(directory, programs);
    const server = await start();
    const { lost, stop: stopServer } = keepRunning(server, start, { report, patienceMs });
    let stopped: Promise<void> | undefined;
    const stop = () => (stopped ??= stopServer().then(() => release(lock)));
    return { connection: server.connection, isNew, lost, stop };
  } catch (error) {
    await release(lock);
    throw error;
  }
}

/**
 * Connection of the server that a running service holds for `dataDir`, or undefined when none does. Waits for a
 * service that is just starting. Used by the admin command.
 */
export async function runningEmbedded(dataDir: string): Promise<Connection | undefined> {
  if (!fs.existsSync(dataDir)) return undefined;
  const directory = fs.realpathSync(dataDir);
  const cluster = join(directory, 'postgres');
  const deadline = Date.now() + startPatience;
  while (Date.now() < deadline && (await accepts(lockAddress(directory)))) {
    const found = readPidFile(cluster);
    if (found?.ready && runs(found.pid, cluster)) return connectionAt(found.host);
    await sleep(20);
  }
  return undefined;
}

/**
 * The default of DATA_DIR: `.data` below the project for an ordinary user; for root a directory under
 * /var/lib/menu-management-service, of its own for each checkout.
 */
export function defaultDataDir(): string {
  const project = resolve(import.meta.dirname, '../..');
  return process.getuid?.() === 0 ? join(systemDirectory, `data-${digest(project)}`) : join(project, '.data');
}

async function holdLock(directory: string): Promise<Server> {
  const address = lockAddress(directory);
  // An abstract name disappears with its process; a socket file remains after a kill -9, when nobody accepts any
  // more.
  if (!address.startsWith('\0') && !(await accepts(address))) fs.rmSync(address, { force: true });
  const lock = createServer((socket) => socket.destroy()).unref();
  try {
    await once(lock.listen({ path: address, exclusive: true }), 'listening');
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EADDRINUSE' ? new DataDirectoryInUse(directory) : error;
  }
  // It only has to be there: an accept that fails for want of descriptors must not end the service.
  return lock.on('error', () => {});
}

function lockAddress(directory: string): string {
  const name = `menu-management-service-${digest(directory)}`;
  return process.platform === 'linux' ? `\0${name}` : join(tmpdir(), name);
}

async function release(lock: Server): Promise<void> {
  await new Promise((done) => lock.close(done));
}
