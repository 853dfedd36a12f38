import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { addressOf, fetchToken } from '../service-process.ts';

const project = resolve(import.meta.dirname, '../..');

/** The whole service in a process of its own, on a fresh Postgres with the demo account, and clients of it. */
export interface Service {
  origin: string;
  /** Owns the demo account. */
  owner: Client;
  /** Has an account of its own, without any record. */
  stranger: Client;
  stop(): Promise<void>;
}

/** A client with all scopes. */
export interface Client {
  client_id: string;
  client_secret: string;
  access_token: string;
}

/**
 * @param dataDir a directory that is not there yet; the caller removes it.
 * @param log the file that takes what it prints.
 * @throws what it printed, when it ends before it is ready
 */
export async function startService(dataDir: string, log: string): Promise<Service> {
  const output = openSync(log, 'w');
  const env = {
    PATH: process.env['PATH'],
    DATA_DIR: dataDir,
    PORT: '0',
    LOG_LEVEL: 'warn',
    // Limits have tests of their own; those of single operations stay, and are met.
    RATE_LIMIT_PER_MINUTE: '1000000000',
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
  };
  const child = spawn(process.execPath, ['src/main.ts'], {
    cwd: project,
    env,
    // A group of its own: Ctrl-C reaches this script, which stops the service in order.
    detached: true,
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    await exit;
  };
  try {
    const origin = await addressOf(child, log);
    const owner = JSON.parse(readFileSync(join(dataDir, 'demo-client.json'), 'utf8'));
    const stranger = await createClient(env);
    return {
      origin,
      owner: { ...owner, access_token: await fetchToken(origin, owner) },
      stranger: { ...stranger, access_token: await fetchToken(origin, stranger) },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A receiver on loopback that fails at times, so that deliveries are found in every state. */
export async function startReceiver(): Promise<{ origin: string; stop(): void }> {
  const statuses = [204, 204, 500, 204, 410];
  let received = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(statuses[received++ % statuses.length] ?? 204).end());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function createClient(env: NodeJS.ProcessEnv): Promise<Omit<Client, 'access_token'>> {
  const admin = spawn(process.execPath, ['scripts/admin.ts', 'create-client', '--account', 'Stranger'], {
    cwd: project,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const printed = (await Array.fromAsync(admin.stdout)).join('');
  return JSON.parse(printed);
}
