import { processorTime } from './processor-time.ts';
import type { Scene } from './webhooks.ts';

/**
 * CPU time that PostgreSQL's backends for the service spend on `work`, in milliseconds. Unlike wall-clock time, it
 * hardly grows when other programs compete for the cores. NaN where the system does not report it.
 */
export async function backendTime(scene: Scene, work: () => Promise<unknown>): Promise<number> {
  const before = await timeOfBackends(scene);
  await work();
  const after = await timeOfBackends(scene);
  let microseconds = 0;
  for (const [pid, time] of after) microseconds += time - (before.get(pid) ?? 0);
  return microseconds / 1_000;
}

async function timeOfBackends({ query }: Scene): Promise<Map<number, number>> {
  const rows = await query(
    `select pid from pg_stat_activity
     where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
  );
  return new Map(rows.map(({ pid }) => [Number(pid), processorTime(Number(pid)).all]));
}
