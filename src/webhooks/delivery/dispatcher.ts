/**
 * Attempts due deliveries. Two pollers share the work: one claims deliveries and starts attempts, without waiting for
 * them; the other writes results in batches. No transaction is open during a request.
 *
 * A crash between claim and result leaves a lease that expires; the delivery is then attempted again with the same id
 * and bytes, by this process or another: at least once.
 *
 * Slots are shared by a dynamic threshold (Choudhury and Hahne, 1998): no endpoint holds more than an eighth of the
 * free ones. So a few hanging endpoints leave most slots to the others, without anybody knowing that they hang; the
 * circuit breaker (endpoint-health.ts) then reduces them to one slot.
 */
import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '../../db/database.ts';
import { startPoller } from '../../db/poller.ts';
import type { Seal } from '../../db/seal.ts';
import { type Claim, claimDue } from './claim.ts';
import type { AttemptResult, Send } from './deliver.ts';
import { type Outcome, recordOutcomes } from './outcomes.ts';
import { nextDelayMs } from './retry-schedule.ts';

export interface Dispatcher {
  /** New deliveries may be due. */
  nudge(): void;
  /**
   * Waits for the attempts in progress and writes their results; those that take too long are left to their leases.
   */
  stop(): Promise<void>;
}

export interface DispatcherOptions {
  database: Database;
  send: Send;
  seal: Seal;
  log: FastifyBaseLogger;
  /** The wait after the n-th failed attempt in ms; null when it was the last. */
  retryDelay?: typeof nextDelayMs;
  /** Called with each attempt before its outcome is written. */
  observe?: (outcome: Outcome) => void;
  /** Awaited before deliveries of these accounts are sent. */
  beforeSending?: (accountIds: number[]) => Promise<void>;
  /** Maximum number of attempts in progress in this process, and at one endpoint. */
  concurrency?: number;
  perEndpoint?: number;
  /** Twice as long as an attempt can take, so that a lease expires only if its holder is gone. */
  leaseMs?: number;
  idleMs?: number;
}

const stopPatienceMs = 5_000;

/** Starts to attempt due deliveries in this process, until it is stopped. */
export function startDispatcher(options: DispatcherOptions): Dispatcher {
  const { database, send, seal, log, retryDelay = nextDelayMs, observe = () => {}, beforeSending } = options;
  const { concurrency = 1024, perEndpoint = 64, leaseMs = 30_000, idleMs = 200 } = options;
  const busy = new Map<number, number>();
  const underWay = new Set<Promise<void>>();
  let places = concurrency;
  let finished: Outcome[] = [];

  const results = startPoller('results', writeResults, { idleMs: 1_000, log });
  const claims = startPoller('claims', claimMore, { idleMs, log });

  // One round takes all that is due and has a place; there is more to take once a place is free, which nudges.
  async function claimMore(): Promise<boolean> {
    if (places === 0) return false;
    const asked = performance.now();
    const share = Math.max(1, Math.min(perEndpoint, Math.floor(places / 8)));
    const claimed = await claimDue(database, { limit: places, perEndpoint: share, busy, leaseMs });
    if (claimed.length > 0) await beforeSending?.([...new Set(claimed.map(({ account_id }) => account_id))]);
    // A process that was suspended meanwhile must not send what another one may have claimed since.
    if (performance.now() - asked > leaseMs / 2) return false;
    for (const claim of claimed) {
      take(claim.webhook_id);
      const attempt = run(claim).finally(() => underWay.delete(attempt));
      underWay.add(attempt);
    }
    return false;
  }

  async function run(claim: Claim): Promise<void> {
    const startedAt = claim.claimed_at;
    const result = await attempt(claim, startedAt);
    const outcome = { claim, startedAt, result, ...verdict(claim, result) };
    observe(outcome);
    finished.push(outcome);
    results.nudge();
  }

  async function attempt(claim: Claim, sentAt: Date): Promise<AttemptResult> {
    if (!claim.is_permitted) return notSent('the client may no longer read this location');
    const secrets = openSecrets(claim);
    if (!secrets) return notSent('the secret cannot be read');
    return send({ url: claim.url, secrets, eventId: claim.event_id, body: claim.payload, sentAt });
  }

  function openSecrets({ sealed_secrets, webhook_id }: Claim): string[] | undefined {
    try {
      return sealed_secrets.map((sealed) => seal.open(sealed));
    } catch (error) {
      log.error(
        { err: error, webhook: webhook_id },
        'a webhook secret was sealed with another ENCRYPTION_KEY',
      );
      return undefined;
    }
  }

  function verdict(claim: Claim, result: AttemptResult): Verdict {
    const { step, is_permitted } = claim;
    if (result.ok) return { state: 'delivered', failedReason: null, retryInMs: null };
    if (!is_permitted) return failed('access_removed');
    const { retryAfterMs } = result;
    const retryInMs = retryDelay(step, retryAfterMs === undefined ? {} : { retryAfterMs });
    return retryInMs === null
      ? failed('attempts_exhausted')
      : { state: 'pending', failedReason: null, retryInMs };
  }

  // A batch that cannot be written is kept and tried again; a place is free once its result is stored.
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

  function take(webhookId: number): void {
    places -= 1;
    busy.set(webhookId, (busy.get(webhookId) ?? 0) + 1);
  }

  function release(webhookId: number): void {
    places += 1;
    const left = (busy.get(webhookId) ?? 1) - 1;
    if (left === 0) busy.delete(webhookId);
    else busy.set(webhookId, left);
  }

  return {
    nudge: claims.nudge,
    async stop() {
      await claims.stop();
      await endOf(underWay, stopPatienceMs);
      await results.stop();
      await writeResults().catch((error) =>
        log.error({ err: error }, 'results lost; their leases will expire'),
      );
    },
  };
}

type Verdict = Pick<Outcome, 'state' | 'failedReason' | 'retryInMs'>;

function failed(failedReason: Outcome['failedReason']): Verdict {
  return { state: 'failed', failedReason, retryInMs: null };
}

function notSent(error: string): AttemptResult {
  return { ok: false, status: null, error, durationMs: 0, responseExcerpt: null, gone: false };
}

async function endOf(attempts: Iterable<Promise<void>>, patienceMs: number): Promise<void> {
  const { promise: tooLong, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, patienceMs);
  await Promise.race([Promise.all(attempts), tooLong]);
  clearTimeout(timer);
}
