import type { FastifyInstance } from 'fastify';
import type { Metrics } from '../metrics/metrics.ts';

/** /metrics in the text form of Prometheus, and the counting of every answer; to be called before routes are added. */
export function registerMetrics(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', async (request, reply) => {
    // What is no operation is one label: paths are the caller's choice, and their number has no end.
    const { operationId = 'none' } = request.routeOptions.config;
    metrics.answered(operationId, reply.statusCode, reply.elapsedTime / 1000);
  });
  app.get('/metrics', async (_request, reply) => reply.type(metrics.mediaType).send(await metrics.text()));
}
