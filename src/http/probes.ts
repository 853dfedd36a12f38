import type { FastifyInstance } from 'fastify';
import { type Database, databaseState, requireWritable } from '../db/database.ts';
import { shareLooks } from '../db/replicas/share-looks.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { serviceUnavailable } from './errors.ts';

/**
 * /health/live: 200 if the process can serve, or could if its database did; otherwise 503, and only a restart helps.
 * /health/ready: 200 if it reaches a database that accepts writes and is not about to stop; otherwise 503.
 * @param leaving is aborted as soon as the process is told to stop.
 */
export function registerHealth(app: FastifyInstance, database: Database, leaving?: AbortSignal): void {
  // However many ask, and nobody counts them.
  const isWritable = shareLooks(() => requireWritable(database));
  app.get('/health/live', async (_request, reply) => {
    const state = databaseState(database);
    return reply.code(state === 'stuck' ? 503 : 200).send({ status: liveness[state] });
  });
  app.get('/health/ready', async (request, reply) => {
    if (leaving?.aborted) return reply.code(503).send({ status: 'stopping' });
    try {
      await isWritable();
    } catch (error) {
      request.log.warn({ err: error }, 'not ready');
      throw serviceUnavailable();
    }
    return { status: 'ok' };
  });
}

const liveness = { reached: 'ok', away: 'waiting for the database', stuck: 'stuck' } as const;

/** /metrics in the text form of Prometheus, and the count of every response; to be called before routes are added. */
export function registerMetrics(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', (request, reply, done) => {
    // All other paths share one label: callers choose them, so their number is unlimited.
    const { operationId = 'none' } = request.routeOptions.config;
    metrics.responded(operationId, reply.statusCode, reply.elapsedTime / 1000);
    done();
  });
  app.get('/metrics', async (_request, reply) => reply.type(metrics.mediaType).send(await metrics.text()));
}
