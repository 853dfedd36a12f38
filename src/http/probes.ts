import type { FastifyInstance } from 'fastify';
import { CompiledQuery } from 'kysely';
import type { Database } from '../db/database.ts';

/** /health/live: the process answers. /health/ready: it can also reach the database; else 503. */
export function registerHealth(app: FastifyInstance, database: Database): void {
  app.get('/health/live', async () => ({ status: 'ok' }));
  app.get('/health/ready', async () => {
    await database.executeQuery(CompiledQuery.raw('select 1'));
    return { status: 'ok' };
  });
}
