import type { FastifyInstance } from 'fastify';
import { CompiledQuery } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Metrics } from '../metrics/metrics.ts';

/** /health/live: the process responds. /health/ready: it can also reach the database; else 503. */
export function registerHealth(app: FastifyInstance, database: Database): void {
  app.get('/health/live', async () => ({ status: 'ok' }));
  app.get('/health/ready', async () => {
    await database.executeQuery(CompiledQuery.raw('select 1'));
    return { status: 'ok' };
  });
}

/** /metrics in the text form of Prometheus, and the count of every response; to be called before routes are added. */
export function registerMetrics(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', async (request, reply) => {
    // What is no operation is one label: paths are the caller's choice, and their number has no end.
    const { operationId = 'none' } = request.routeOptions.config;
    metrics.responded(operationId, reply.statusCode, reply.elapsedTime / 1000);
  });
  app.get('/metrics', async (_request, reply) => reply.type(metrics.mediaType).send(await metrics.text()));
}
