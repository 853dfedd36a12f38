import type pg from 'pg';
import { buildApp } from './app.ts';
import type { Config } from './config.ts';
import { openDatabase } from './db/database.ts';
import { createSeal } from './seal.ts';
import { version } from './version.ts';
import { createSender } from './webhooks/delivery/deliver.ts';
import { createDestination } from './webhooks/delivery/destination.ts';
import { startWorker, type Worker } from './webhooks/delivery/worker.ts';

export interface Service {
  /** Where the API listens; absent with ROLE=worker. */
  address?: string;
  /** Finishes what is under way, then stops: API first, so that no event comes after the worker. */
  stop(): Promise<void>;
}

/** Runs the roles of one process on a migrated database. */
export async function serve(config: Config, connection: pg.PoolConfig): Promise<Service> {
  const database = openDatabase(connection);
  const destination = createDestination({ allowedNetworks: config.webhookAllowedNetworks });
  const send = createSender({ destination, userAgent: `menu-management-service/${version}` });
  let worker: Worker | undefined;
  const app = await buildApp(config, { database, destination, send, eventCommitted: () => worker?.nudge() });
  if (config.role !== 'api') {
    worker = startWorker({
      database,
      send,
      seal: createSeal(config.encryptionKey),
      log: app.log,
      retentionDays: config.eventRetentionDays,
    });
  }
  const address =
    config.role === 'worker' ? undefined : await app.listen({ port: config.port, host: config.host });

  return {
    ...(address !== undefined && { address }),
    async stop() {
      await app.close();
      await worker?.stop();
      await destination.close();
      await database.destroy();
    },
  };
}
