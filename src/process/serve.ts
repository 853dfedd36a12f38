import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import { buildApp } from '../app.ts';
import { openDatabase, poolUse } from '../db/database.ts';
import { createSeal } from '../db/seal.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { readBacklog } from '../webhooks/delivery/backlog.ts';
import { createSender } from '../webhooks/delivery/deliver.ts';
import { createDestination } from '../webhooks/delivery/destination.ts';
import { startWorker, type Worker } from '../worker.ts';
import type { Config } from './config.ts';
import { keptEncryptionKey } from './encryption-key.ts';
import { userAgent } from './version.ts';
import { buildWorkerServer } from './worker-server.ts';

export interface Service {
  /** Where it listens: the API, or with ROLE=worker health and metrics alone. */
  address: string;
  /** Finishes what is under way, then stops: API first, so that no event comes after the worker. */
  stop(): Promise<void>;
}

/**
 * Runs the roles of one process on a migrated database.
 * @throws an Error of one line when the port is taken or the database belongs to another ENCRYPTION_KEY.
 */
export async function serve(config: Config, connection: pg.PoolConfig): Promise<Service> {
  const database = openDatabase(connection);
  const seal = createSeal(config.encryptionKey ?? keptEncryptionKey(config.dataDir));
  const destination = createDestination({ allowedNetworks: config.webhookAllowedNetworks });
  const send = createSender({ destination, userAgent });
  const metrics = createMetrics({
    poolUse: () => poolUse(database),
    readBacklog: () => readBacklog(database),
  });
  let worker: Worker | undefined;
  const parts = { database, seal, destination, send, metrics, afterWrite: () => worker?.nudge() };
  const app = await (config.role === 'worker' ? buildWorkerServer : buildApp)(config, parts);
  const address = await listen(app, config);
  if (config.role !== 'api') {
    const { eventRetentionDays: retentionDays } = config;
    const observe = metrics.attempted;
    worker = startWorker({ database, send, seal, log: app.log, observe, retentionDays });
  }

  return {
    address,
    async stop() {
      await app.close();
      await worker?.stop();
      await destination.close();
      await database.destroy();
    },
  };
}

async function listen(app: FastifyInstance, { host, port }: Config): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new Error(listenErrors[code]?.(host, port) ?? message, { cause: error });
  }
}

const noSuchHost = (host: string) =>
  `HOST ${host} is not an address of this machine: set HOST to one, such as 127.0.0.1`;

const listenErrors: Record<string, (host: string, port: number) => string> = {
  EADDRINUSE: (host, port) =>
    `PORT ${port} is in use on ${host}: stop what listens there, or set PORT to another`,
  EACCES: (_host, port) => `PORT ${port} is reserved for the administrator: set PORT to one above 1023`,
  EADDRNOTAVAIL: noSuchHost,
  ENOTFOUND: noSuchHost,
  EAI_AGAIN: noSuchHost,
};
