import type { FastifyInstance } from 'fastify';
import { type Database, databaseState, requireWritable } from '../db/database.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { serviceUnavailable } from './errors.ts';

/**
 * /health/live: the process can serve, or could if its database did; else 503, and only a restart helps.
 * /health/ready: it reaches the database, which takes writes, and is not about to stop; else 503.
 * @param leaving is aborted as soon as the process is told to stop.
 */
export function registerHealth(app: FastifyInstance, database: Database, leaving?: AbortSignal): void {
  app.get('/health/live', async (_request, reply) => {
    const state = databaseState(database);
    return reply.code(state === 'stuck' ? 503 : 200).send({ status: liveness[state] });
  });
  app.get('/health/ready', async (request, reply) => {
    if (leaving?.aborted) return reply.code(503).send({ status: 'stopping' });
    try {
      await requireWritable(database);
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
  app.addHook('onResponse', async (request, reply) => {
    // What is no operation is one label: paths are the caller's choice, and their number has no end.
    const { operationId = 'none' } = request.routeOptions.config;
    metrics.responded(operationId, reply.statusCode, reply.elapsedTime / 1000);
  });
  app.get('/metrics', async (_request, reply) => reply.type(metrics.mediaType).send(await metrics.text()));
}
