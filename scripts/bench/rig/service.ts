import { join } from 'node:path';
import { fetchToken, launchService } from '../../launch.ts';
import type { BenchServer } from './server.ts';

/** The service in a process of its own, as `make start` runs it, on the bench's database. */
export interface Service {
  origin: string;
  token: string;
  pid: number;
  stop(): Promise<unknown>;
}

let started = 0;

/**
 * @param environment settings beyond those of every bench: a free port, limits out of reach
 * @param directory another checkout to run
 */
export async function startService(
  server: BenchServer,
  environment: Record<string, string>,
  directory?: string,
): Promise<Service> {
  const settings = {
    DATABASE_URL: connectionString(server.connection),
    ENCRYPTION_KEY: server.encryptionKey.toString('base64'),
    RATE_LIMIT_PER_MINUTE: '1000000000',
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    ...environment,
  };
  started += 1;
  const service = launchService(settings, {
    log: join(server.directory, `service-${started}.log`),
    ...(directory !== undefined && { directory }),
  });
  try {
    const { address: origin } = await service.ready;
    return {
      origin,
      token: await fetchToken(origin, server.data),
      pid: service.pid,
      stop: () => service.stop(),
    };
  } catch (error) {
    await service.stop();
    throw error;
  }
}

function connectionString({ host, port, user, database }: BenchServer['connection']): string {
  return `postgresql:///${database}?${new URLSearchParams({ host, port: String(port), user })}`;
}
