import type { Cluster } from '../deployment/cluster.ts';
import { quantile } from './flatness.ts';
import type { Taken } from './load.ts';

/** What is seen of the service at one moment; the names are the columns of the CSV. */
export type Sample = Record<string, number>;

/** Of these the service must not need more and more. */
export const watchedColumns = {
  rss_mb: { share: 0.1, least: 16 },
  heap_mb: { share: 0.2, least: 16 },
  descriptors: { share: 0.1, least: 8 },
  queue: { share: 0.15, least: 200 },
};

const metrics = {
  rss_mb: { of: /^process_resident_memory_bytes (\S+)$/gm, by: 1_048_576 },
  heap_mb: { of: /^nodejs_heap_size_used_bytes (\S+)$/gm, by: 1_048_576 },
  descriptors: { of: /^process_open_fds (\S+)$/gm, by: 1 },
  event_loop_p99_ms: { of: /^nodejs_eventloop_lag_p99_seconds (\S+)$/gm, by: 0.001 },
  queue: { of: /^menus_webhook_backlog\{.*\} (\S+)$/gm, by: 1 },
};

/** @param taken of the calls since the last sample */
export async function takeSample(address: string, cluster: Cluster, taken: Taken): Promise<Sample> {
  const text = await (await fetch(`${address}/metrics`)).text();
  const sample: Sample = {};
  for (const [name, { of, by }] of Object.entries(metrics)) {
    const values = [...text.matchAll(of)].map(([, value]) => Number(value) / by);
    // The backlog is absent when it could not be read lately.
    if (values.length > 0) sample[name] = round(values.reduce((sum, value) => sum + value, 0));
  }
  const failed = [...taken.failures.values()].reduce((sum, count) => sum + count, 0);
  return {
    ...sample,
    requests: taken.times.length,
    failed,
    request_p99_ms: round(quantile(taken.times, 0.99)),
    ...(await sizesOfTables(cluster)),
  };
}

/** In MB with indexes, those of partitions as one; and dead rows of all of them. */
async function sizesOfTables(cluster: Cluster): Promise<Sample> {
  const { rows } = await cluster.query(`
    select coalesce(inhparent, oid)::regclass::text as name,
      sum(pg_total_relation_size(oid))::float8 / 1048576 as size,
      sum(coalesce(pg_stat_get_dead_tuples(oid), 0))::float8 as dead
    from pg_class left join pg_inherits on inhrelid = oid
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
    group by 1 order by 1`);
  const sizes = rows.map(({ name, size }) => [`${tablePrefix}${name}`, round(size)]);
  const sum = (column: string) => rows.reduce((total, row) => total + row[column], 0);
  return { dead_rows: sum('dead'), tables_mb: round(sum('size')), ...Object.fromEntries(sizes) };
}

/** Of the columns with sizes of tables, in MB. */
export const tablePrefix = 'mb_';

function round(value: number): number {
  return Number(value.toFixed(3));
}
