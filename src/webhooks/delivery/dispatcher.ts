import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '../../db/database.ts';
import { startLoop } from '../../loop.ts';
import type { Seal } from '../../seal.ts';
import type { Attempt, AttemptResult } from './deliver.ts';
import { type Claim, claimDue, type Outcome, recordOutcomes } from './queue.ts';
import { nextDelayMs } from './retry-schedule.ts';

/*
 * Attempts what is due. Two loops share the work: one claims and starts attempts, without waiting for them; the
 * other writes results back in batches, back to back. No transaction is open while a request is under way.
 *
 * A crash between claim and result leaves a lease that runs out; the delivery is then attempted again with the same
 * id and bytes, by this process or another: at least once.
 */
export interface Dispatcher {
  /** New deliveries may be due. */
  nudge(): void;
  /** Ends the attempts under way and writes their results. */
  stop(): Promise<void>;
}

export interface DispatcherOptions {
  database: Database;
  send: (attempt: Attempt) => Promise<AttemptResult>;
  seal: Seal;
  log: FastifyBaseLogger;
  /** The wait after the n-th failed attempt in ms; null when it was the last. */
  retryDelay?: typeof nextDelayMs;
  concurrency?: number;
  perEndpoint?: number;
  idleMs?: number;
}

export function startDispatcher(options: DispatcherOptions): Dispatcher {
  const { database, send, seal, log, retryDelay = nextDelayMs } = options;
  const { concurrency = 512, perEndpoint = 64, idleMs = 50 } = options;
  const busy = new Map<number, number>();
  const underWay = new Set<Promise<void>>();
  let finished: Outcome[] = [];

  const results = startLoop('results', writeResults, { idleMs: 1_000, log });
  const claims = startLoop('claims', claimMore, { idleMs, log });

  async function claimMore(): Promise<boolean> {
    const limit = concurrency - underWay.size;
    if (limit <= 0) return false;
    const claimed = await claimDue(database, { limit, perEndpoint, busy });
    for (const claim of claimed) {
      const attempt = run(claim).finally(() => underWay.delete(attempt));
      underWay.add(attempt);
    }
    return claimed.length > 0;
  }

  async function run(claim: Claim): Promise<void> {
    busy.set(claim.webhook_id, (busy.get(claim.webhook_id) ?? 0) + 1);
    const startedAt = new Date();
    const result = await send({
      url: claim.url,
      secrets: claim.sealed_secrets.map((sealed) => seal.open(sealed)),
      eventId: claim.event_id,
      body: claim.payload,
    });
    finished.push({ claim, startedAt, result, ...verdict(claim, result) });
    results.nudge();
  }

  function verdict({ number }: Claim, result: AttemptResult): Pick<Outcome, 'state' | 'retryInMs'> {
    if (result.ok) return { state: 'delivered', retryInMs: null };
    const { retryAfterMs } = result;
    const retryInMs = retryDelay(number, retryAfterMs === undefined ? {} : { retryAfterMs });
    return retryInMs === null ? { state: 'failed', retryInMs } : { state: 'pending', retryInMs };
  }

  // A batch that cannot be written is kept and tried again; an endpoint's place is free once its result is stored.
  async function writeResults(): Promise<boolean> {
    const batch = finished;
    if (batch.length === 0) return false;
    finished = [];
    try {
      await recordOutcomes(database, batch);
    } catch (error) {
      finished = [...batch, ...finished];
      throw error;
    }
    for (const { claim } of batch) release(claim.webhook_id);
    claims.nudge();
    return finished.length > 0;
  }

  function release(webhookId: number): void {
    const left = (busy.get(webhookId) ?? 1) - 1;
    if (left === 0) busy.delete(webhookId);
    else busy.set(webhookId, left);
  }

  return {
    nudge: claims.nudge,
    async stop() {
      await claims.stop();
      await Promise.all(underWay);
      await results.stop();
      await writeResults().catch((error) => log.error({ err: error }, 'results lost; their leases run out'));
    },
  };
}
