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
 * directory, stops an orphan, and starts its own.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Account, Programs } from './programs.ts';
import { environment, findPrograms, openDataDirectory, prepareCluster, systemDirectory } from './programs.ts';

/** A running embedded database. */
export interface EmbeddedPostgres {
  /** libpq-style connection for pg.Pool: host is the directory of the Unix socket. */
  readonly connection: { host: string; port: number; user: string; database: string };
  /** Stops the server we started (fast shutdown), waits until it is gone, frees the data directory. Idempotent. */
  stop(): Promise<void>;
}

/** Another running service holds the data directory; the message is one line that names it and the fix. */
export class DataDirectoryInUse extends Error {
  constructor(dataDir: string) {
    super(
      `DATA_DIR ${dataDir} is in use by another running service; stop it or set DATA_DIR to another directory`,
    );
  }
}

/**
 * Starts the server of `dataDir`, which it initialises when there is none yet. A process that ends without `stop()`
 * still asks the server to shut down; only one that is killed leaves it to the next start.
 * @param options.settings PostgreSQL settings by name, such as `{ max_connections: '50' }`.
 * @throws DataDirectoryInUse when another service runs on it, else an Error of one line that says what to do.
 */
export async function startEmbedded(
  dataDir: string,
  options: { settings?: Record<string, string> } = {},
): Promise<EmbeddedPostgres> {
  const programs = await findPrograms();
  const directory = openDataDirectory(dataDir, programs.account);
  const lock = await holdLock(directory);
  try {
    await prepareCluster(directory, programs);
    const server = await startServer(directory, programs, options.settings ?? {});
    let stopped: Promise<void> | undefined;
    const stop = () => (stopped ??= stopServer(server).then(() => release(lock)));
    return { connection: server.connection, stop };
  } catch (error) {
    await release(lock);
    throw error;
  }
}

/**
 * Connection of the server that a running service holds for `dataDir`, or undefined when none does. Waits for a
 * service that is just starting. Used by the admin command.
 */
export async function runningEmbedded(dataDir: string): Promise<EmbeddedPostgres['connection'] | undefined> {
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

type Connection = EmbeddedPostgres['connection'];
type Running = { child: ChildProcess; connection: Connection; onExit: () => void };

const startPatience = 10_000;
const stopPatience = 20_000;
const port = 5432;
const socketName = `.s.PGSQL.${port}`;
// What macOS leaves of sun_path; Linux has 107.
const longestSocketPath = 103;
const longestLog = 10 * 1024 * 1024;

async function holdLock(directory: string): Promise<Server> {
  const address = lockAddress(directory);
  // An abstract name goes with its process; a socket file stays after a kill -9, when nobody accepts any more.
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

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

async function accepts(address: string): Promise<boolean> {
  const socket = connect(address);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function release(lock: Server): Promise<void> {
  await new Promise((done) => lock.close(done));
}

/** Tries again while a Postgres that lost its postmaster, or that a killed service had just spawned, goes down. */
async function startServer(
  directory: string,
  programs: Programs,
  settings: Record<string, string>,
): Promise<Running> {
  const deadline = Date.now() + startPatience;
  for (;;) {
    await stopOrphan(directory);
    try {
      return await launch(directory, programs, settings);
    } catch (error) {
      const passing = /pre-existing shared memory block|lock file .* already exists/.test(String(error));
      if (!passing || Date.now() > deadline) throw error;
      await sleep(100);
    }
  }
}

async function stopOrphan(directory: string): Promise<void> {
  const cluster = join(directory, 'postgres');
  const found = readPidFile(cluster);
  if (!found) return;
  await shutDown(found.pid, () => runs(found.pid, cluster));
  // A container that shares the directory has process ids and lock names of its own, but the same socket.
  if (await accepts(join(found.host, socketName))) throw new DataDirectoryInUse(directory);
  // Postgres itself replaces the files of a process that is gone, but not once its id belongs to another.
  if (!kill(found.pid, 0)) return;
  fs.rmSync(join(found.host, `${socketName}.lock`), { force: true });
  fs.rmSync(join(cluster, 'postmaster.pid'), { force: true });
}

async function launch(
  directory: string,
  programs: Programs,
  settings: Record<string, string>,
): Promise<Running> {
  const log = join(directory, 'postgres.log');
  const logged = truncateLong(log);
  const server = await spawnServer(directory, programs, settings, log);
  try {
    await untilReady(server, join(directory, 'postgres'));
    await createDatabase(server.connection);
    return server;
  } catch (error) {
    await stopServer(server);
    const lines = fs.readFileSync(log).subarray(logged).toString().trim().split('\n').slice(-3).join(' | ');
    throw new Error(`Postgres did not start: ${(error as Error).message}; ${log} ends with: ${lines}`);
  }
}

function truncateLong(log: string): number {
  const size = fs.statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= longestLog) return size;
  fs.truncateSync(log);
  return 0;
}

async function spawnServer(
  directory: string,
  { postgres, account }: Programs,
  settings: Record<string, string>,
  log: string,
): Promise<Running> {
  const cluster = join(directory, 'postgres');
  const host = socketDirectory(cluster, account);
  const args = Object.entries({ ...settings, ...onlyUnixSocket(host) }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const output = fs.openSync(log, 'a', 0o600);
  const child = spawn(postgres, ['-D', cluster, ...args], {
    ...account,
    cwd: cluster,
    env: environment,
    detached: true,
    stdio: ['ignore', output, output],
  });
  fs.closeSync(output);
  await once(child, 'spawn');
  const onExit = () => child.kill('SIGINT');
  process.once('exit', onExit);
  return { child, connection: connectionAt(host), onExit };
}

function socketDirectory(cluster: string, account: Account): string {
  if (Buffer.byteLength(join(cluster, socketName)) <= longestSocketPath) return cluster;
  const short = join(tmpdir(), `menus-${digest(cluster)}`);
  if (!fs.existsSync(short)) makePrivate(short, account);
  const found = fs.lstatSync(short);
  // Anybody may make a directory of that name in /tmp first, and would then own the way to the database.
  if (found.isDirectory() && found.uid === (account.uid ?? process.getuid?.())) return short;
  throw new Error(`${short} belongs to another user: remove it, or set DATA_DIR to a shorter path`);
}

function makePrivate(directory: string, { uid, gid }: Account): void {
  fs.mkdirSync(directory, { mode: 0o700 });
  if (uid !== undefined && gid !== undefined) fs.chownSync(directory, uid, gid);
}

function onlyUnixSocket(host: string): Record<string, string> {
  return {
    listen_addresses: '',
    port: String(port),
    unix_socket_directories: `"${host.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
  };
}

function connectionAt(host: string): Connection {
  return { host, port, user: 'postgres', database: 'menus' };
}

async function untilReady({ child }: Running, cluster: string): Promise<void> {
  for (;;) {
    const found = readPidFile(cluster);
    if (found?.ready && found.pid === child.pid) return;
    if (!isRunning(child)) throw new Error(`it ended with ${child.signalCode ?? `status ${child.exitCode}`}`);
    await sleep(5);
  }
}

async function createDatabase(connection: Connection): Promise<void> {
  try {
    await query(connection, 'select 1');
  } catch (error) {
    if ((error as pg.DatabaseError).code !== '3D000') throw error;
    await query({ ...connection, database: 'postgres' }, `create database ${connection.database}`);
  }
}

async function query(connection: Connection, text: string): Promise<void> {
  const client = new pg.Client({ ...connection, ssl: false });
  await client.connect();
  await client.query(text).finally(() => client.end());
}

async function stopServer({ child, onExit }: Running): Promise<void> {
  if (child.pid !== undefined) await shutDown(child.pid, () => isRunning(child));
  process.off('exit', onExit);
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

/** Fast shutdown, then the immediate one, after which the next start recovers from the log. */
async function shutDown(pid: number, alive: () => boolean): Promise<void> {
  if (alive()) kill(pid, 'SIGINT');
  const deadline = Date.now() + stopPatience;
  while (alive()) {
    if (Date.now() > deadline) kill(pid, 'SIGQUIT');
    await sleep(5);
  }
}

function kill(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** Source: https://www.postgresql.org/docs/18/storage-file-layout.html, and LOCK_FILE_LINE_* in miscadmin.h. */
function readPidFile(cluster: string): { pid: number; host: string; ready: boolean } | undefined {
  const lines = readOrEmpty(join(cluster, 'postmaster.pid')).split('\n');
  const pid = Number(lines[0]);
  return pid > 0 ? { pid, host: lines[4] || cluster, ready: lines[7]?.trim() === 'ready' } : undefined;
}

/** A process id alone may have been given to another process since, or belong to a zombie. */
function runs(pid: number, cluster: string): boolean {
  return commandLine(pid).includes(`postgres -D ${cluster} -c `);
}

function commandLine(pid: number): string {
  if (process.platform === 'linux') return readOrEmpty(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');
  return spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout;
}

/** Both kinds of file may go while we look. */
function readOrEmpty(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
