import Fastify, { type FastifyInstance, LogController } from 'fastify';
import { loadSigningKeys } from '../accounts/signing-keys.ts';
import type { Config } from './config.ts';
import type { Database } from '../db/database.ts';
import { registerHealth } from '../http/probes.ts';
import { registerMetrics } from '../http/metrics.ts';
import { answerError } from '../http/problem.ts';
import { refuseUnrouted } from '../http/routing.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { createSeal } from '../db/seal.ts';

/**
 * What a process of the worker role serves: its health and its metrics, and nothing of the API.
 * @throws when the database's keys cannot be read, since its webhook secrets cannot be either.
 */
export async function buildProbes(
  { logLevel, encryptionKey }: Pick<Config, 'logLevel'> & { encryptionKey: Buffer },
  { database, metrics }: { database: Database; metrics: Metrics },
): Promise<FastifyInstance> {
  await loadSigningKeys(database, createSeal(encryptionKey));
  const app = Fastify({
    logger: { level: logLevel, base: { service: 'menu-management-service' } },
    logController: new LogController({ disableRequestLogging: true }),
    frameworkErrors: answerError,
    forceCloseConnections: 'idle',
  });
  app.setErrorHandler(answerError);
  refuseUnrouted(app);
  registerMetrics(app, metrics);
  registerHealth(app, database);
  return app;
}
