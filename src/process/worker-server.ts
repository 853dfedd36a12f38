import Fastify, { type FastifyInstance } from 'fastify';
import { loadSigningKeys } from '../accounts/signing-keys.ts';
import type { Database } from '../db/database.ts';
import type { Seal } from '../db/seal.ts';
import { logging } from '../http/log.ts';
import { registerHealth, registerMetrics } from '../http/probes.ts';
import { sendError } from '../http/problem.ts';
import { refuseUnrouted } from '../http/routing.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Config } from './config.ts';

/**
 * What a process with the worker role serves: its health and its metrics, and nothing of the API.
 * @throws when the database's keys cannot be read, since its webhook secrets cannot be read either.
 */
export async function buildWorkerServer(
  { logLevel }: Pick<Config, 'logLevel'>,
  { database, seal, metrics }: { database: Database; seal: Seal; metrics: Metrics },
): Promise<FastifyInstance> {
  await loadSigningKeys(database, seal);
  const app = Fastify({
    ...logging(logLevel),
    frameworkErrors: sendError,
    forceCloseConnections: 'idle',
  });
  app.setErrorHandler(sendError);
  refuseUnrouted(app);
  registerMetrics(app, metrics);
  registerHealth(app, database);
  return app;
}
