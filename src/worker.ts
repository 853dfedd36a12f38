import type { FastifyBaseLogger } from 'fastify';
import { removeEndedTokens } from './accounts/revoke-token.ts';
import { keepSigningKeysFresh } from './accounts/rotate-signing-key.ts';
import { type Database, patient } from './db/database.ts';
import { startPoller } from './db/poller.ts';
import { removeOldKeys } from './http/idempotency.ts';
import { restoreDueItems } from './items/restore-items.ts';
import { restoreDueModifiers } from './modifier-groups/restore-modifiers.ts';
import { type DispatcherOptions, startDispatcher } from './webhooks/delivery/dispatcher.ts';
import { watchDue } from './webhooks/delivery/due-endpoints.ts';
import { rememberOutboxStart } from './webhooks/delivery/outbox-start.ts';
import { queueReplays } from './webhooks/delivery/queue-replays.ts';
import { recoverEndpoints } from './webhooks/delivery/recovery.ts';
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
  /** The age at which a key that signs tokens is replaced, in days; 90 unless given. */
  signingKeyDays?: number;
}

const tenMinutes = 600_000;

/** Every background job on one page. Each says whether there is more to do; any number of processes may run them. */
export function startWorker(options: WorkerOptions): Worker {
  const { log, retentionDays, seal, signingKeyDays = 90 } = options;
  const database = patient(options.database);
  const poll = (name: string, idleMs: number, work: () => Promise<boolean>) =>
    startPoller(name, work, { idleMs, log });

  // Attempts the deliveries that are due.
  const dispatcher = startDispatcher({ ...options, database });

  // Turns new events into deliveries.
  const start = rememberOutboxStart();
  const relay = poll('relay', options.idleMs ?? 50, async () => {
    const relayed = await relayBatch(database, { retentionDays, start });
    if (relayed > 0) dispatcher.nudge();
    return relayed > 0;
  });

  // Puts endpoints off at which nothing is due.
  const watch = watchDue(database);
  const watching = poll('due endpoints', 1_000, () => watch.next());

  // Makes deliveries due that wait for an endpoint that has recovered.
  const recover = recoverEndpoints(database);
  const recovery = poll('recovery', options.idleMs ?? 500, async () => {
    const recovering = await recover.next();
    if (recovering) dispatcher.nudge();
    return recovering;
  });

  // Queues past events that somebody wants again.
  const replays = poll('replays', options.idleMs ?? 500, async () => {
    const queueing = await queueReplays(database);
    if (queueing) dispatcher.nudge();
    return queueing;
  });

  // Brings items and modifiers back whose absence is over.
  const restore = poll('restore', 500, async () => {
    const restored = (await restoreDueItems(database)) + (await restoreDueModifiers(database));
    if (restored > 0) relay.nudge();
    return restored > 0;
  });

  // Removes what has expired.
  const unhurried = patient(options.database, Number.POSITIVE_INFINITY);
  const sweep = createSweep(database, { days: retentionDays, unhurried });
  const retention = poll('retention', tenMinutes, () => sweep.next());
  const keys = poll('idempotency keys', tenMinutes, async () => (await removeOldKeys(database)) > 0);

  const tokens = poll('revoked tokens', tenMinutes, async () => (await removeEndedTokens(database)) > 0);

  // Replaces the key that signs tokens once it is old.
  const signing = poll('signing keys', tenMinutes, async () => {
    await keepSigningKeysFresh(database, seal, signingKeyDays);
    return false;
  });

  return {
    nudge: relay.nudge,
    async stop() {
      await Promise.all(
        [signing, tokens, keys, retention, restore, replays, recovery, watching, relay].map((poller) =>
          poller.stop(),
        ),
      );
      await dispatcher.stop();
    },
  };
}
