/**
 * Several processes that share the port: the first one, which serves nothing itself, and those that it forks.
 *
 * Guarantee: a process that dies loses only the requests and leases that it holds; the others continue, and it is
 * replaced. When the first one dies, the others end as well.
 */
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { answerForAll } from '../metrics/aggregate.ts';
import type { Service } from './serve.ts';

type Report = { address: string } | { failed: string };

const replaceMs = 1_000;

// Each accepts for itself: round robin would hand connections to a process that has just died, where they hang.
cluster.schedulingPolicy = cluster.SCHED_NONE;

/**
 * Forks `count` processes and waits until each serves.
 * @throws what the first of them to fail reported.
 */
export async function startProcesses(count: number): Promise<Service> {
  let stopping = false;
  const stop = async () => {
    stopping = true;
    await Promise.all(alive().map(end));
  };
  const fill = () => {
    while (!stopping && alive().length < count) cluster.fork();
  };
  answerForAll();
  try {
    const [first] = await Promise.all(Array.from({ length: count }, () => started(cluster.fork())));
    cluster.on('message', complain);
    cluster.on('exit', () => setTimeout(fill, replaceMs));
    fill();
    return { address: first?.address ?? '', stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What a forked process reports to the first one about its start. */
export async function report(outcome: Report): Promise<void> {
  await new Promise<void>((sent) => process.send?.(outcome, undefined, undefined, () => sent()));
}

async function started(worker: Worker): Promise<{ address: string }> {
  const exited = once(worker, 'exit').then(([status, signal]) => [
    { failed: `a process ended with ${signal ?? `status ${status}`} before it was ready` },
  ]);
  for (;;) {
    const [outcome]: Report[] = await Promise.race([once(worker, 'message') as Promise<[Report]>, exited]);
    if (!outcome || 'failed' in outcome) throw new Error(outcome?.failed);
    // A process that serves already may be asked for its metrics by another's scrape.
    if ('address' in outcome) return outcome;
  }
}

function complain(_worker: Worker, outcome: Report): void {
  if ('failed' in outcome) console.error(`menu-management-service: ${outcome.failed}; retrying`);
}

function alive(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
}

async function end(worker: Worker): Promise<void> {
  if (worker.isDead()) return;
  const exited = once(worker, 'exit');
  worker.process.kill('SIGTERM');
  await exited;
}
