import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import { buildApp } from '../app.ts';
import { type Database, openDatabase, poolUse } from '../db/database.ts';
import { Replicas } from '../db/replicas/replicas.ts';
import { createSeal } from '../db/seal.ts';
import { keepLatest } from '../metrics/latest.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { readBacklog } from '../webhooks/delivery/backlog.ts';
import { createSender } from '../webhooks/delivery/deliver.ts';
import { createDestination } from '../webhooks/delivery/destination.ts';
import { startWorker, type Worker } from '../worker.ts';
import type { Config } from './config.ts';
import { keptEncryptionKeys } from './encryption-key.ts';
import { userAgent } from './version.ts';
import { buildWorkerServer } from './worker-server.ts';

export interface Service {
  /** Where it listens: the API, or with ROLE=worker health and metrics alone. */
  address: string;
  /**
   * Reports that it is not ready; after the drain time it finishes what is in progress and stops: the API first, so
   * that no event arrives after the worker has stopped.
   */
  stop(): Promise<void>;
}

/**
 * Runs the roles of one process on a migrated database.
 * @throws an Error of one line when the port is taken or the database belongs to another ENCRYPTION_KEY.
 */
export async function serve(config: Config, connection: pg.PoolConfig): Promise<Service> {
  const database = openDatabase(connection, { max: config.databasePool });
  const replicas = replicasOf(database, config);
  const seal = createSeal(...(config.encryptionKeys ?? keptEncryptionKeys(config.dataDir)));
  const destination = createDestination({ allowedNetworks: config.webhookAllowedNetworks });
  const send = createSender({ destination, userAgent });
  const metrics = createMetrics({
    poolUse: () => poolUse(database),
    replicaUse: replicas && (() => replicas.use),
    latestBacklog: keepLatest(() => readBacklog(database), { keepMs: 5_000 }),
  });
  let worker: Worker | undefined;
  const leaving = new AbortController();
  const afterWrite = () => worker?.nudge();
  const parts = { database, replicas, seal, destination, send, metrics, leaving: leaving.signal, afterWrite };
  const app = await (config.role === 'worker' ? buildWorkerServer : buildApp)(config, parts);
  replicas?.start(app.log);
  const address = await listen(app, config);
  if (config.role !== 'api') {
    const { eventRetentionDays: retentionDays, signingKeyDays } = config;
    const observe = metrics.attempted;
    const { log } = app;
    const beforeSending = replicas && ((accountIds: number[]) => replicas.note(accountIds));
    worker = startWorker({
      ...{ database, send, seal, log, observe, retentionDays, signingKeyDays },
      ...(beforeSending && { beforeSending }),
    });
  }

  return {
    address,
    async stop() {
      leaving.abort();
      // No proxy sends requests to a worker, so it has nothing to drain.
      if (config.role !== 'worker') await pause(config.drainSeconds * 1_000);
      await app.close();
      await worker?.stop();
      await destination.close();
      await replicas?.close();
      await database.destroy();
    },
  };
}

function replicasOf(database: Database, config: Config): Replicas | undefined {
  const { databaseReplicaUrls: urls, redisUrl, databasePool: max, replicaMaxLag } = config;
  if (urls.length === 0 || redisUrl === undefined) return undefined;
  return new Replicas(database, { urls, redisUrl, max, maxLagMs: replicaMaxLag * 1_000 });
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
