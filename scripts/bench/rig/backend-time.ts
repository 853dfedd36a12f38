import { processorTime } from './processor-time.ts';
import type { Scene } from './webhooks.ts';

/**
 * Milliseconds of processor time that PostgreSQL takes for `work`, in the connections of the service. Unlike the time on
 * a clock it is not much longer where other work has the cores. NaN where the system does not tell.
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
