import type { NetConnectOpts } from 'node:net';
import type pg from 'pg';
import type { Test } from 'tap';
import { startProxy, type TcpProxy } from './proxy.ts';
import { startTestService, type TestService, type TestServiceOptions } from './service.ts';

/** A connection to the database that a test can cut and restore. */
export interface DatabaseProxy extends Omit<TcpProxy, 'leadTo'> {
  connection: pg.PoolConfig;
  /** Routes new connections to this server; existing ones go dark. */
  leadTo(target: pg.PoolConfig): void;
}

/** Runs the service on its own database behind a proxy; `limits` configure its pool. */
export async function startBehindProxy(
  t: Test,
  { limits, ...options }: TestServiceOptions & { limits?: pg.PoolConfig } = {},
): Promise<TestService & { proxy: DatabaseProxy }> {
  let proxy: DatabaseProxy | undefined;
  const connect = async (connection: pg.PoolConfig) => {
    proxy = await startDatabaseProxy(t, connection);
    return { ...proxy.connection, ...limits };
  };
  const service = await startTestService(t, { ...options, connect });
  return { ...service, proxy: proxy as DatabaseProxy };
}

/** Listens on a loopback port of its own and forwards everything to the database; stopped when `t` ends. */
export async function startDatabaseProxy(
  t: Pick<Test, 'teardown'>,
  target: pg.PoolConfig,
): Promise<DatabaseProxy> {
  const proxy = await startProxy(t, socketOf(target));
  return {
    ...proxy,
    connection: { ...target, host: '127.0.0.1', port: proxy.port, ssl: false },
    leadTo: (target) => proxy.leadTo(socketOf(target)),
  };
}

function socketOf({ host, port }: pg.PoolConfig): NetConnectOpts {
  return { path: `${host}/.s.PGSQL.${port}` };
}
