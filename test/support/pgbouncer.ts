import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { Test } from 'tap';
import { eventually } from './eventually.ts';
import { freePort } from './process.ts';

/** Why the tests behind PgBouncer are skipped; in CI they never are. */
export const noPgBouncer =
  spawnSync('pgbouncer', ['--version']).error && !process.env['CI']
    ? 'pgbouncer is not installed here'
    : false;

/**
 * Runs a PgBouncer with no settings but those it needs; gone when the test ends.
 * @param servers connections that it makes to a server, at most.
 * @returns the way to the same database through it.
 */
export async function startPgBouncer(
  t: Test,
  target: pg.PoolConfig,
  { mode, servers = 20 }: { mode: 'session' | 'transaction'; servers?: number },
): Promise<pg.PoolConfig> {
  const { host = '', port, user, database } = target;
  const directory = mkdtempSync(join(tmpdir(), 'pgbouncer-'));
  chmodSync(directory, 0o755);
  const file = join(directory, 'pgbouncer.ini');
  const ownPort = await freePort();
  writeFileSync(
    file,
    `[databases]
     ${database} = host=${host} port=${port} user=${user}
     [pgbouncer]
     listen_addr = 127.0.0.1
     listen_port = ${ownPort}
     unix_socket_dir =
     auth_type = any
     pool_mode = ${mode}
     default_pool_size = ${servers}`.replaceAll(/^ +/gm, ''),
  );
  // Like Postgres it refuses to run as root, and the socket is open to the account of Postgres alone.
  const { uid, gid } = statSync(host);
  const bouncer = spawn('pgbouncer', [file], { uid, gid, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] });
  let printed = '';
  bouncer.stderr.setEncoding('utf8').on('data', (text) => (printed += text));
  t.teardown(async () => {
    await end(bouncer);
    rmSync(directory, { recursive: true });
  });
  const connection = { ...target, host: '127.0.0.1', port: ownPort, ssl: false };
  await eventually('pgbouncer responds', async () => {
    if (bouncer.exitCode !== null) throw new Error(printed);
    return accepts(connection);
  });
  return connection;
}

async function end(bouncer: ChildProcess): Promise<void> {
  if (bouncer.exitCode !== null || bouncer.signalCode !== null) return;
  bouncer.kill('SIGKILL');
  await once(bouncer, 'exit');
}

async function accepts(connection: pg.PoolConfig): Promise<boolean> {
  const client = new pg.Client({ ...connection, ssl: false } as pg.ClientConfig);
  client.on('error', () => {});
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
