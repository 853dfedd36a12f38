import type { FastifyBaseLogger } from 'fastify';
import { type Database, patient } from './db/database.ts';
import { startPoller } from './db/poller.ts';
import { removeOldKeys } from './http/idempotency.ts';
import { restoreDueItems } from './items/restore-items.ts';
import { type DispatcherOptions, startDispatcher } from './webhooks/delivery/dispatcher.ts';
import { queueReplays } from './webhooks/delivery/queue-replays.ts';
import { relayBatch } from './webhooks/delivery/relay.ts';
import { createSweep } from './webhooks/delivery/retention.ts';

export interface Worker {
  /** An event may have been committed in this process. */
  nudge(): void;
  stop(): Promise<void>;
}

export interface WorkerOptions extends DispatcherOptions {
  database: Database;
  log: FastifyBaseLogger;
  /** How long events, deliveries and attempts are kept, in days. */
  retentionDays: number;
}

const tenMinutes = 600_000;

/** Every background job on one page. Each says whether there is more to do; any number of processes may run them. */
export function startWorker(options: WorkerOptions): Worker {
  const { log, retentionDays } = options;
  const database = patient(options.database);
  const poll = (name: string, idleMs: number, work: () => Promise<boolean>) =>
    startPoller(name, work, { idleMs, log });

  // Attempts the deliveries that are due.
  const dispatcher = startDispatcher({ ...options, database });

  // Turns new events into deliveries.
  const relay = poll('relay', options.idleMs ?? 50, async () => {
    const relayed = await relayBatch(database, { retentionDays });
    if (relayed > 0) dispatcher.nudge();
    return relayed > 0;
  });

  // Queues past events that somebody wants again.
  const replays = poll('replays', options.idleMs ?? 500, async () => {
    const queueing = await queueReplays(database);
    if (queueing) dispatcher.nudge();
    return queueing;
  });

  // Brings items back whose absence is over.
  const restore = poll('restore', 500, async () => {
    const restored = await restoreDueItems(database);
    if (restored > 0) relay.nudge();
    return restored > 0;
  });

  // Removes what is past its time.
  const sweep = createSweep(database, { days: retentionDays });
  const retention = poll('retention', tenMinutes, () => sweep.next());
  const keys = poll('idempotency keys', tenMinutes, async () => (await removeOldKeys(database)) > 0);

  return {
    nudge: relay.nudge,
    async stop() {
      await Promise.all([keys, retention, restore, replays, relay].map((poller) => poller.stop()));
      await dispatcher.stop();
    },
  };
}
