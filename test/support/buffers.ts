import { sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';

/** The tables of the queue whose pages are counted. `event` and `feed` are partitioned, and have none of their own. */
const counted = ['delivery', 'outbox', 'webhook', 'endpoint_due'];

/**
 * Keeps autovacuum away from the queue's tables until the database goes: what it reads counts like what a statement
 * reads, and reaches the statistics at a moment of its own. To be called before rows are added.
 */
export async function withoutAutovacuum(database: Database): Promise<void> {
  for (const table of counted)
    await sql`alter table ${sql.table(table)} set (autovacuum_enabled = off)`.execute(database);
}

/**
 * Counts the pages of the queue's tables and indexes that the database reads for `work`: a cost that does not depend on
 * what else the machine is doing. The database must have a single connection, since each reports only its own reads,
 * and be `withoutAutovacuum`.
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
    where relname = any(${counted})`.execute(database);
  if (!rows[0]) throw new Error('no statistics');
  return rows[0].pages;
}
