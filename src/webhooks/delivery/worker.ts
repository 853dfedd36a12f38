import { restoreDueItems } from '../../items/restore-items.ts';
import { startLoop } from '../../loop.ts';
import { type DispatcherOptions, startDispatcher } from './dispatcher.ts';
import { relayBatch } from './relay.ts';

export interface Worker {
  /** An event was committed in this process. */
  nudge(): void;
  stop(): Promise<void>;
}

const relayBatchSize = 1000;

/** Starts what the worker role does: relay events, attempt deliveries, bring items back on time. */
export function startWorker(options: DispatcherOptions): Worker {
  const { database, log } = options;
  const dispatcher = startDispatcher(options);
  const relay = startLoop(
    'relay',
    async () => {
      const relayed = await relayBatch(database, relayBatchSize);
      if (relayed > 0) dispatcher.nudge();
      return relayed === relayBatchSize;
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

  return {
    nudge: relay.nudge,
    async stop() {
      await Promise.all([restore.stop(), relay.stop()]);
      await dispatcher.stop();
    },
  };
}
