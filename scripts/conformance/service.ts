import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Credentials, createClient, demoClient, fetchToken, launchService } from '../launch.ts';

/** The whole service in a process of its own, on a fresh Postgres with the demo account, and clients of it. */
export interface Service {
  origin: string;
  /** Owns the demo account. */
  owner: Client;
  /** Has an account of its own, without any record. */
  stranger: Client;
  stop(): Promise<unknown>;
}

/** A client with all scopes. */
export interface Client extends Credentials {
  access_token: string;
}

/**
 * @param dataDir a directory that is not there yet; the caller removes it.
 * @throws what it printed, when it ends before it is ready
 */
export async function startService(dataDir: string): Promise<Service> {
  const env = {
    DATA_DIR: dataDir,
    LOG_LEVEL: 'warn',
    // Limits have tests of their own; those of single operations stay, and are met.
    RATE_LIMIT_PER_MINUTE: '1000000000',
    WEBHOOKS_PER_ACCOUNT: '1000',
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
  };
  const service = launchService(env);
  const withToken = async (origin: string, client: Credentials) => ({
    ...client,
    access_token: await fetchToken(origin, client),
  });
  try {
    const ready = await service.ready;
    const { address: origin } = ready;
    return {
      origin,
      owner: await withToken(origin, demoClient(ready)),
      stranger: await withToken(origin, await createClient(env, 'Stranger')),
      stop: () => service.stop(),
    };
  } catch (error) {
    await service.stop();
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
