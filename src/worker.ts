import { removeOldKeys } from './http/idempotency.ts';
import { restoreDueItems } from './items/restore-items.ts';
import { startLoop } from './db/poller.ts';
import { type DispatcherOptions, startDispatcher } from './webhooks/delivery/dispatcher.ts';
import { relayBatch } from './webhooks/delivery/relay.ts';
import { queueReplays } from './webhooks/delivery/queue-replays.ts';
import { createSweep } from './webhooks/delivery/retention.ts';

export interface Worker {
  /** An event was committed in this process. */
  nudge(): void;
  stop(): Promise<void>;
}

export interface WorkerOptions extends DispatcherOptions {
  /** How long events, deliveries and attempts are kept, in days. */
  retentionDays: number;
}

/** Starts what the worker role does: relay events, attempt deliveries, queue replays, bring items back on time, sweep. */
export function startWorker(options: WorkerOptions): Worker {
  const { database, log, retentionDays } = options;
  const dispatcher = startDispatcher(options);
  const relay = startLoop(
    'relay',
    async () => {
      const relayed = await relayBatch(database, { retentionDays });
      if (relayed > 0) dispatcher.nudge();
      return relayed > 0;
    },
    { idleMs: options.idleMs ?? 50, log },
  );
  const restore = startLoop(
    'restore',
    async () => {
      const restored = await restoreDueItems(database);
      if (restored > 0) relay.nudge();
      return restored > 0;
    },
    { idleMs: 500, log },
  );
  const replays = startLoop(
    'replays',
    async () => {
      const queueing = await queueReplays(database);
      if (queueing) dispatcher.nudge();
      return queueing;
    },
    { idleMs: options.idleMs ?? 500, log },
  );
  const sweep = createSweep(database, { days: retentionDays });
  const retention = startLoop('retention', () => sweep.next(), { idleMs: 600_000, log });
  const removeKeys = async () => (await removeOldKeys(database)) > 0;
  const keys = startLoop('idempotency keys', removeKeys, { idleMs: 600_000, log });

  return {
    nudge: relay.nudge,
    async stop() {
      await Promise.all([keys, retention, replays, restore, relay].map((loop) => loop.stop()));
      await dispatcher.stop();
    },
  };
}
