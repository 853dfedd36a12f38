import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
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

async function addressOf(child: ChildProcess, log: string): Promise<string> {
  for (;;) {
    const text = readFileSync(log, 'utf8');
    const origin = /is ready at (\S+)/.exec(text)?.[1];
    if (origin !== undefined) return origin;
    if (child.exitCode !== null) throw new Error(`the service did not start: ${text.trim()}`);
    await sleep(20);
  }
}

async function fetchToken(
  origin: string,
  { client_id, client_secret }: BenchServer['data'],
): Promise<string> {
  const response = await fetch(`${origin}/api/v1/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret }),
  });
  if (!response.ok) throw new Error(`no token: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { access_token: string }).access_token;
}
