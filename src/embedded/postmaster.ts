import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Account, environment, type Programs } from './programs.ts';

/** libpq-style parameters: host is the directory of the Unix socket. */
export type Connection = { host: string; port: number; user: string; database: string };

/** A server process that was started here. */
export type Running = { child: ChildProcess; connection: Connection };

/** Another running service holds the data directory; the message is one line that names it and the fix. */
export class DataDirectoryInUse extends Error {
  constructor(dataDir: string) {
    super(
      `DATA_DIR ${dataDir} is in use by another running service; stop it or set DATA_DIR to another directory`,
    );
  }
}

/** There is no database any more where one was; the message is one line. */
export class DataDirectoryLost extends Error {
  constructor(dataDir: string) {
    super(`DATA_DIR ${dataDir} no longer contains its database; restore it, then start the service again`);
  }
}

/** How long a start waits, in ms, for an earlier server on the same data to go away. */
export const startPatience = 10_000;

const stopPatience = 20_000;
const forkPatience = 1_000;
const port = 5432;
const socketName = `.s.PGSQL.${port}`;
// What macOS leaves of sun_path; Linux has 107.
const longestSocketPath = 103;
const longestLog = 10 * 1024 * 1024;

/**
 * Starts the Postgres of an initialised data directory. If a Postgres that lost its postmaster, or that a killed
 * service had just spawned, is still shutting down, it tries again: until then Postgres itself refuses to start, so
 * two never share the data.
 * @param signal aborts the start; whatever was started is stopped.
 * @throws an Error of one line; DataDirectoryLost and DataDirectoryInUse if trying again cannot help.
 */
export async function startServer(
  directory: string,
  programs: Programs,
  settings: Record<string, string>,
  signal?: AbortSignal,
): Promise<Running> {
  const deadline = Date.now() + startPatience;
  for (;;) {
    if (!fs.existsSync(join(directory, 'postgres', 'PG_VERSION'))) throw new DataDirectoryLost(directory);
    await stopOrphan(directory);
    try {
      return await launch(directory, programs, settings, signal);
    } catch (error) {
      const passing = /pre-existing shared memory block|lock file .* already exists/.test(String(error));
      if (!passing || Date.now() > deadline) throw error;
      await sleep(100, undefined, { signal });
    }
  }
}

async function stopOrphan(directory: string): Promise<void> {
  const cluster = join(directory, 'postgres');
  const found = readPidFile(cluster);
  if (!found) return;
  await shutDown(found.pid, () => runs(found.pid, cluster));
  // A container that shares the directory has process ids and lock names of its own, but the same socket.
  if (await keepsAccepting(join(found.host, socketName))) throw new DataDirectoryInUse(directory);
  // Postgres itself replaces the files of a process that is gone, but not once its id belongs to another.
  if (!kill(found.pid, 0)) return;
  fs.rmSync(join(found.host, `${socketName}.lock`), { force: true });
  fs.rmSync(join(cluster, 'postmaster.pid'), { force: true });
}

/** A child that a killed postmaster had just forked shares its socket for a moment. */
async function keepsAccepting(address: string): Promise<boolean> {
  const deadline = Date.now() + forkPatience;
  while (await accepts(address)) {
    if (Date.now() > deadline) return true;
    await sleep(20);
  }
  return false;
}

async function launch(
  directory: string,
  programs: Programs,
  settings: Record<string, string>,
  signal?: AbortSignal,
): Promise<Running> {
  const log = join(directory, 'postgres.log');
  const logged = truncateLong(log);
  const server = await spawnServer(directory, programs, settings, log);
  try {
    await untilReady(server, join(directory, 'postgres'), signal);
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
  child.once('exit', () => process.off('exit', onExit));
  return { child, connection: connectionAt(host) };
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

/** Where the server listens whose socket is in this directory. */
export function connectionAt(host: string): Connection {
  return { host, port, user: 'postgres', database: 'menus' };
}

async function untilReady({ child }: Running, cluster: string, signal?: AbortSignal): Promise<void> {
  for (;;) {
    signal?.throwIfAborted();
    const found = readPidFile(cluster);
    if (found?.ready && found.pid === child.pid) return;
    if (!isRunning({ child }))
      throw new Error(`it ended with ${child.signalCode ?? `status ${child.exitCode}`}`);
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

/** Stops it if it runs, and waits until it is gone. */
export async function stopServer({ child }: Running): Promise<void> {
  if (child.pid !== undefined) await shutDown(child.pid, () => isRunning({ child }));
}

/** Whether the process of the server has neither exited nor been killed. */
export function isRunning({ child }: Pick<Running, 'child'>): boolean {
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
export function readPidFile(cluster: string): { pid: number; host: string; ready: boolean } | undefined {
  const lines = readOrEmpty(join(cluster, 'postmaster.pid')).split('\n');
  const pid = Number(lines[0]);
  return pid > 0 ? { pid, host: lines[4] || cluster, ready: lines[7]?.trim() === 'ready' } : undefined;
}

/** A process id alone may have been given to another process since, or belong to a zombie. */
export function runs(pid: number, cluster: string): boolean {
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

/** A short name for a path. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** Whether somebody listens on the socket. */
export async function accepts(address: string): Promise<boolean> {
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
