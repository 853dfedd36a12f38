import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';
import { createSweep } from '../../src/webhooks/delivery/retention.ts';
import { eventually } from './eventually.ts';

/** Tables that are partitioned by days. */
export const partitioned = ['event', 'feed', 'delivery_log'];

/**
 * Makes the database look long in use: it gets partitions that end where these days began, and one for today. Existing
 * rows are dropped.
 */
export async function dividePast(database: Database, daysAgo: readonly number[] = [30, 0]): Promise<void> {
  const after = (days: number) => sql`date_trunc('day', now(), 'UTC') + make_interval(days => ${days})`;
  for (const table of partitioned) {
    await dropUntil(database, table, after(1));
    let since: RawBuilder<unknown> = sql`null`;
    for (const until of [...daysAgo, -1].map((days) => after(-days))) {
      await sql`select add_partition(${table}::regclass, ${since}, ${until})`.execute(database);
      since = until;
    }
  }
}

/** Drops the partitions of a table up to a moment, retrying while the table is in use. */
export async function dropUntil(
  database: Database,
  table: string,
  moment: RawBuilder<unknown>,
): Promise<void> {
  await eventually('nobody uses the table', () =>
    sql`select drop_partitions(${table}::regclass, ${moment})`.execute(database).catch((error) => {
      if (error.code === '55P03') return false;
      throw error;
    }),
  );
}

export interface Partition {
  name: string;
  /** Null where it has no end: the default partition. */
  until: Date | null;
  rows: number;
  /** Rows that were deleted one by one or still take up space. */
  deleted: number;
}

/** The partitions of a table, in order. Counts include what any connection has reported. */
export async function partitionsOf(database: Database, table: string): Promise<Partition[]> {
  await sql`select pg_stat_force_next_flush()`.execute(database);
  const { rows } = await sql<Partition>`
    select partition::text as name, until, (n_tup_del + n_dead_tup)::float8 as deleted,
      (xpath('/row/count/text()', query_to_xml('select count(*) from ' || partition, false, true, '')))[1]::text::int as rows
    from partitions_of(${table}::regclass) join pg_stat_user_tables on relid = partition
    order by until`.execute(database);
  return rows;
}

interface Retention {
  /** How long things are kept; 30 unless given. */
  days?: number;
  batch?: number;
}

/** One pass of the retention. */
export async function sweepOnce(
  database: Database,
  { days = 30, batch = 1000 }: Retention = {},
): Promise<void> {
  const { next } = createSweep(database, { days, batch });
  while (await next());
}

/** Runs passes until everything past its retention is dropped; a pass gives up while somebody uses the table. */
export async function sweep(database: Database, retention: Retention = {}): Promise<void> {
  const { days = 30 } = retention;
  await eventually('what is past its time is gone', async () => {
    await sweepOnce(database, retention);
    const { rows } = await sql`
      select from unnest(${partitioned}::regclass[]) as parent, partitions_of(parent)
      where until <= now() - make_interval(days => ${days})`.execute(database);
    return rows.length === 0;
  });
}

/** The partitions of a table whose index `work` actually opens, rather than only plans for. */
export async function partitionsOpened(
  database: Database,
  table: string,
  work: (transaction: Database) => Promise<unknown>,
): Promise<number> {
  return database.transaction().execute(async (transaction) => {
    await work(transaction);
    const { rows } = await sql<{ opened: number }>`
      select count(distinct indrelid)::int as opened
      from pg_locks join pg_index on indexrelid = relation join pg_inherits on inhrelid = indrelid
      where pid = pg_backend_pid() and inhparent = ${table}::regclass`.execute(transaction);
    return rows[0]?.opened ?? 0;
  });
}
