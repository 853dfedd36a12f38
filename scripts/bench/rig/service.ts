import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { addressOf, fetchToken } from '../../service-process.ts';
import type { BenchServer } from './server.ts';

const project = resolve(import.meta.dirname, '../../..');

/** The service in a process of its own, as `make start` runs it, on the bench's database. */
export interface Service {
  origin: string;
  token: string;
  stop(): Promise<void>;
}

/** @param environment settings beside those that every bench has: a free port, limits out of reach. */
export async function startService(
  server: BenchServer,
  environment: Record<string, string>,
): Promise<Service> {
  const port = await freePort();
  // Of its own: its address is read there.
  const log = join(server.directory, `service-${port}.log`);
  const output = openSync(log, 'w');
  const child = spawn(process.execPath, [...process.execArgv, join(project, 'src/main.ts')], {
    cwd: server.directory,
    stdio: ['ignore', output, output],
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: connectionString(server.connection),
      ENCRYPTION_KEY: server.encryptionKey.toString('base64'),
      PORT: String(port),
      RATE_LIMIT_PER_MINUTE: '1000000000',
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
      ...environment,
    },
  });
  closeSync(output);
  const onExit = () => child.kill('SIGTERM');
  process.once('exit', onExit);
  const stop = async () => {
    process.off('exit', onExit);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    await exit;
  };
  try {
    const origin = await addressOf(child, log);
    return { origin, token: await fetchToken(origin, server.data), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

// Several processes that share a port (WORKERS) need to know it beforehand.
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function connectionString({ host, port, user, database }: BenchServer['connection']): string {
  return `postgresql:///${database}?${new URLSearchParams({ host, port: String(port), user })}`;
}
