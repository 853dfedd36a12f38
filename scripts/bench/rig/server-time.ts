import { readFileSync } from 'node:fs';
import { processorTime } from './processor-time.ts';
import type { Scene } from './webhooks.ts';

// Of `times` in /proc, on every Linux.
const microsecondsPerTick = 10_000;

/**
 * CPU time that all processes of the server have used so far, including those that have ended but not the session that
 * asks, in microseconds. Source: proc_pid_stat(5), fields 4, 16 and 17.
 */
export async function serverTime(query: Scene['query']): Promise<number> {
  const [own] = await query('select pg_backend_pid() as pid');
  const postmaster = Number(statOf(Number(own?.['pid']))[1]);
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').trim().split(' ');
  const running = children
    .map(Number)
    .filter((pid) => pid !== own?.['pid'])
    .reduce((sum, pid) => sum + processorTime(pid).all, 0);
  const [user = 0, system = 0] = statOf(postmaster).slice(13, 15).map(Number);
  return running + (user + system) * microsecondsPerTick;
}

/** What follows the name of the program, which may hold spaces; the first is the state. */
function statOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
