/**
 * With several processes on one port, a scrape reaches any of them. That process asks the first process, which
 * collects the metrics of all and adds them up.
 */
import cluster, { type Worker } from 'node:cluster';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { AggregatorRegistry, type Registry } from 'prom-client';

interface Question {
  metricsFor: string;
}

/** Without a text when a process did not reply in time. */
type Reply = Question & { text?: string };

const patienceMs = 6_000;

/** Lets the processes that this one forks ask for the metrics of all. */
export function answerForAll(): void {
  const all = new AggregatorRegistry();
  cluster.on('message', async (worker: Worker, { metricsFor }: Question) => {
    if (metricsFor === undefined) return;
    const text = await all.clusterMetrics().catch(() => undefined);
    const reply: Reply = { metricsFor, ...(text !== undefined && { text }) };
    if (worker.isConnected()) worker.send(reply);
  });
}

/**
 * The metrics in text, of this process or, when it was forked, of all.
 * @returns a function to ask with. @throws when the others do not reply within six seconds.
 */
export function metricsOfAll(registry: Registry): () => Promise<string> {
  if (!cluster.isWorker) return () => registry.metrics();
  AggregatorRegistry.setRegistries([registry]);
  // Its constructor begins to listen for requests of the first process.
  new AggregatorRegistry();
  return async () => {
    const metricsFor = randomUUID();
    const signal = AbortSignal.timeout(patienceMs);
    process.send?.({ metricsFor } satisfies Question);
    for (;;) {
      const [reply] = (await once(process, 'message', { signal })) as [Reply];
      if (reply.metricsFor !== metricsFor) continue;
      if (reply.text === undefined) throw new Error('a process did not report its metrics in time');
      return reply.text;
    }
  };
}
