import { sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';

/**
 * Counts the pages of the queue's tables and indexes that the database reads for `work`: a cost that does not depend on
 * what else the machine is doing. The database must have a single connection, since each reports only its own reads.
 */
export async function pagesRead(database: Database, work: () => Promise<unknown>): Promise<number> {
  const before = await pagesReadSoFar(database);
  await work();
  return (await pagesReadSoFar(database)) - before;
}

async function pagesReadSoFar(database: Database): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(database);
  const { rows } = await sql<{ pages: number }>`
    select sum(heap_blks_hit + heap_blks_read + coalesce(idx_blks_hit + idx_blks_read, 0))::float8 as pages
    from pg_statio_user_tables
    where relname in ('delivery', 'outbox', 'webhook', 'endpoint_due', 'feed', 'event')`.execute(database);
  if (!rows[0]) throw new Error('no statistics');
  return rows[0].pages;
}
