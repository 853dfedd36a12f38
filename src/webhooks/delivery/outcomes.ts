/** What came of attempts, written back in batches. */
import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { type Param, statement } from '../../db/statement.ts';
import type { Claim } from './claim.ts';
import type { AttemptResult } from './deliver.ts';
import { noteDue } from './due-endpoints.ts';
import { type Impression, noteHealth } from './endpoint-health.ts';
import { attemptJson, attemptsAt, endedColumns, enterLog, type FailedReason, isLogging } from './log.ts';
import { lockEndpoints, promoteHeads } from './ordering.ts';
import { longestDelayMs } from './retry-schedule.ts';

/** What came of a claim: final, or to be tried again after `retryInMs`. */
export interface Outcome {
  claim: Claim;
  startedAt: Date;
  result: AttemptResult;
  state: 'delivered' | 'failed' | 'pending';
  /** Why it failed; null unless it did. */
  failedReason: FailedReason | null;
  retryInMs: number | null;
}

/**
 * Writes a batch of outcomes with their attempts into the log, makes due what waited behind those that ended, and
 * notes how the endpoints are doing. Writing a batch again, after a response was lost, changes nothing.
 */
export async function recordOutcomes(database: Database, outcomes: Outcome[]): Promise<void> {
  const webhookIds = [...new Set(outcomes.map(({ claim }) => claim.webhook_id))];
  await database.transaction().execute(async (transaction) => {
    await lockEndpoints(transaction, webhookIds);
    const recorded = await writeOutcomes(transaction, outcomes);
    const ended = recorded.filter(({ state }) => state !== 'pending').map(({ claim }) => claim);
    if (ended.length > 0) await promoteHeads(transaction, ended);
    if (recorded.length > 0) await noteHealth(transaction, impressionsOf(recorded));
    await noteDue(transaction, webhookIds);
  });
}

/**
 * Returns those whose lease was still valid. A batch may contain two results of one delivery, if the first waited too
 * long.
 */
async function writeOutcomes(transaction: Database, outcomes: Outcome[]): Promise<Outcome[]> {
  const rows = await record(transaction, columnsOf(outcomes));
  const places = new Set(rows.map(({ place }) => place));
  return outcomes.filter((_, index) => places.has(index + 1));
}

function columnsOf(outcomes: Outcome[]) {
  const column = <T>(value: (outcome: Outcome) => T) => outcomes.map(value);
  return {
    delivery_ids: column(({ claim }) => claim.delivery_id),
    account_ids: column(({ claim }) => claim.account_id),
    leases: column(({ claim }) => claim.leased_until),
    numbers: column(({ claim }) => claim.number),
    states: column(({ state }) => state),
    failed_reasons: column(({ failedReason }) => failedReason),
    retry_in_ms: column(({ retryInMs }) => retryInMs),
    started_at: column(({ startedAt }) => startedAt),
    durations_ms: column(({ result }) => result.durationMs),
    statuses: column(({ result }) => result.status),
    errors: column(({ result }) => result.error),
    response_excerpts: column(({ result }) => result.responseExcerpt),
  };
}

/**
 * Only pending deliveries have a lease. The state is left out to keep the planner from the indexes on pending
 * deliveries: if its statistics know of none, it would read a whole index, with all that have ended. The ids are
 * given twice for the same reason: a join alone may read the primary key from its beginning.
 */
const record = statement('webhooks.recordOutcomes', (p: Param<ReturnType<typeof columnsOf>>) => {
  const isOurs = sql`delivery.delivery_id = outcome.delivery_id and delivery.account_id = outcome.account_id
    and delivery.delivery_id = any (${p('delivery_ids', 'bigint[]')}) and leased_until = lease`;
  return sql<{ place: number }>`
    with outcome as (
      select * from unnest(
        ${p('delivery_ids', 'bigint[]')},
        ${p('account_ids', 'bigint[]')},
        ${p('leases', 'timestamptz[]')},
        ${p('numbers', 'smallint[]')},
        ${p('states', 'text[]')},
        ${p('failed_reasons', 'text[]')},
        ${p('retry_in_ms', 'float8[]')},
        ${p('started_at', 'timestamptz[]')},
        ${p('durations_ms', 'int[]')},
        ${p('statuses', 'smallint[]')},
        ${p('errors', 'text[]')},
        ${p('response_excerpts', 'text[]')}
      ) with ordinality as outcome (delivery_id, account_id, lease, number, new_state, failed_reason, retry_in_ms,
        started_at, duration_ms, status, error, response_excerpt, place)
    ),
    recorded as (
      update delivery
      set state = new_state, attempts = number, leased_until = null,
        next_attempt_at = now() + make_interval(secs => retry_in_ms / 1000)
      from outcome
      where ${isOurs} and (new_state = 'pending' or not ${isLogging})
      returning outcome.*
    ),
    attempted as (
      insert into attempt
        (delivery_id, account_id, number, started_at, duration_ms, status, error, response_excerpt)
      select delivery_id, account_id, number, started_at, duration_ms, status, error, response_excerpt
      from recorded
    ),
    ended as (
      delete from delivery using outcome
      where ${isOurs} and new_state <> 'pending' and ${isLogging}
      returning ${endedColumns}, new_state, failed_reason, number, started_at, duration_ms, status, error,
        response_excerpt, place
    ),
    logged as (${enterLog({
      state: sql`new_state`,
      failedReason: sql`failed_reason`,
      attemptCount: sql`number`,
      attempts: sql`array[${attemptJson('ended')}] || ${attemptsAt('ended', 99)}`,
      endedAt: sql`now()`,
    })})
    select place from recorded union all select place from ended`;
});

function impressionsOf(outcomes: Outcome[]): Impression[] {
  const impressions = new Map<number, Impression>();
  for (const { claim, result } of outcomes) {
    const { webhook_id, is_permitted } = claim;
    if (!is_permitted) continue;
    const seen = impressions.get(webhook_id) ?? {
      webhook_id,
      failures: 0,
      reached: false,
      gone: false,
      quietMs: null,
    };
    impressions.set(webhook_id, {
      webhook_id,
      failures: seen.failures + (result.ok ? 0 : 1),
      reached: seen.reached || result.ok,
      gone: seen.gone || result.gone,
      quietMs: longer(seen.quietMs, result.retryAfterMs),
    });
  }
  return [...impressions.values()];
}

function longer(seen: number | null, asked: number | undefined): number | null {
  return asked === undefined ? seen : Math.max(seen ?? 0, Math.min(asked, longestDelayMs));
}
