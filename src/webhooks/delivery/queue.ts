/**
 * What is due, leased to the process that attempts it. All times are the database's, so the clocks of the processes
 * do not matter. The end of the lease is also its token: once it has passed, another process may claim the delivery,
 * which sets another end, and a result that comes with the old one changes nothing.
 */
import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { type Param, statement } from '../../db/statement.ts';
import type { AttemptResult } from './deliver.ts';
import { allowedAttempts, type Impression, noteHealth } from './endpoint-health.ts';
import { lockEndpoints, promoteHeads } from './ordering.ts';

/** A delivery this process may attempt until its lease runs out; then another process may. */
export interface Claim {
  delivery_id: number;
  account_id: number;
  webhook_id: number;
  record: string;
  /** Of this attempt; 1 for the first. */
  number: number;
  claimed_at: Date;
  leased_until: Date;
  event_id: string;
  payload: string;
  url: string;
  sealed_secrets: Buffer[];
}

/** What came of a claim: final, or to be tried again after `retryInMs`. */
export interface Outcome {
  claim: Claim;
  startedAt: Date;
  result: AttemptResult;
  state: 'delivered' | 'failed' | 'pending';
  retryInMs: number | null;
}

export interface ClaimLimits {
  /** Deliveries to claim, over all endpoints. */
  limit: number;
  /** Attempts at one endpoint that this process may have under way. */
  perEndpoint: number;
  /** Attempts under way in this process, by webhook. */
  busy: ReadonlyMap<number, number>;
  leaseMs: number;
}

/**
 * Claims due deliveries, of each endpoint those that have waited longest. Endpoints come in random order and each
 * gives at most its free places, so that none is always behind another when the limit cuts.
 */
export function claimDue(
  database: Database,
  { limit, perEndpoint, busy, leaseMs }: ClaimLimits,
): Promise<Claim[]> {
  return claim(database, {
    limit,
    per_endpoint: perEndpoint,
    busy_ids: [...busy.keys()],
    busy_attempts: [...busy.values()],
    lease_seconds: leaseMs / 1000,
  });
}

interface ClaimValues {
  limit: number;
  per_endpoint: number;
  busy_ids: number[];
  busy_attempts: number[];
  lease_seconds: number;
}

const claim = statement(
  'webhooks.claim',
  (p: Param<ClaimValues>) => sql<Claim>`
    with recursive waiting as (
      (select webhook_id from delivery where state = 'pending' order by webhook_id limit 1)
      union all
      select (select webhook_id from delivery
        where state = 'pending' and delivery.webhook_id > waiting.webhook_id order by webhook_id limit 1)
      from waiting where webhook_id is not null
    ),
    endpoint as (
      select webhook.webhook_id, webhook.url,
        ${allowedAttempts(p('per_endpoint', 'integer'))} - coalesce(busy.attempts, 0) as places
      from waiting join webhook using (webhook_id)
      left join unnest(${p('busy_ids', 'bigint[]')}, ${p('busy_attempts', 'int[]')})
        as busy (webhook_id, attempts) using (webhook_id)
      where webhook.enabled
      order by random()
    ),
    due as materialized (
      select delivery_id, account_id
      from endpoint, lateral (
        select delivery_id, account_id from delivery
        where delivery.webhook_id = endpoint.webhook_id and state = 'pending' and next_attempt_at <= now()
          and (leased_until is null or leased_until <= now())
        order by next_attempt_at limit greatest(endpoint.places, 0)
        for update skip locked
      ) as head
      limit ${p('limit', 'bigint')}
    ),
    claimed as (
      update delivery set leased_until = now() + make_interval(secs => ${p('lease_seconds', 'float8')})
      where (delivery_id, account_id) in (select delivery_id, account_id from due)
      returning delivery_id, account_id, webhook_id, record, attempts, event_id, leased_until
    )
    select claimed.delivery_id, claimed.account_id, claimed.webhook_id, claimed.record,
      claimed.attempts + 1 as number, now() as claimed_at, claimed.leased_until,
      event_id_text(event.event_id) as event_id, event.payload, endpoint.url,
      array(select sealed_secret from webhook_secret
        where webhook_secret.webhook_id = claimed.webhook_id and webhook_secret.account_id = claimed.account_id
          and (expires_at is null or expires_at > now())
        order by expires_at desc nulls first) as sealed_secrets
    from claimed
    join event on event.event_id = claimed.event_id and event.account_id = claimed.account_id
    join endpoint on endpoint.webhook_id = claimed.webhook_id`,
);

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
  });
}

/** Gives those whose lease was still theirs. A batch may hold two of one delivery, when the first waited too long. */
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
    retry_in_ms: column(({ retryInMs }) => retryInMs),
    started_at: column(({ startedAt }) => startedAt),
    durations_ms: column(({ result }) => result.durationMs),
    statuses: column(({ result }) => result.status),
    errors: column(({ result }) => result.error),
    response_excerpts: column(({ result }) => result.responseExcerpt),
  };
}

const record = statement(
  'webhooks.recordOutcomes',
  (p: Param<ReturnType<typeof columnsOf>>) => sql<{ place: number }>`
    with outcome as (
      select * from unnest(
        ${p('delivery_ids', 'bigint[]')},
        ${p('account_ids', 'bigint[]')},
        ${p('leases', 'timestamptz[]')},
        ${p('numbers', 'smallint[]')},
        ${p('states', 'text[]')},
        ${p('retry_in_ms', 'float8[]')},
        ${p('started_at', 'timestamptz[]')},
        ${p('durations_ms', 'int[]')},
        ${p('statuses', 'smallint[]')},
        ${p('errors', 'text[]')},
        ${p('response_excerpts', 'text[]')}
      ) with ordinality as outcome (delivery_id, account_id, lease, number, new_state, retry_in_ms, started_at,
        duration_ms, status, error, response_excerpt, place)
    ),
    recorded as (
      update delivery
      set state = new_state, attempts = number, leased_until = null,
        next_attempt_at = now() + make_interval(secs => retry_in_ms / 1000)
      from outcome
      where delivery.delivery_id = outcome.delivery_id and delivery.account_id = outcome.account_id
        and state = 'pending' and leased_until = lease
      returning outcome.*
    ),
    logged as (
      insert into attempt
        (delivery_id, account_id, number, started_at, duration_ms, status, error, response_excerpt)
      select delivery_id, account_id, number, started_at, duration_ms, status, error, response_excerpt
      from recorded
    )
    select place from recorded`,
);

function impressionsOf(outcomes: Outcome[]): Impression[] {
  const impressions = new Map<number, Impression>();
  for (const { claim, result } of outcomes) {
    const { webhook_id } = claim;
    const seen = impressions.get(webhook_id) ?? { webhook_id, failures: 0, reached: false, gone: false };
    impressions.set(webhook_id, {
      webhook_id,
      failures: seen.failures + (result.ok ? 0 : 1),
      reached: seen.reached || result.ok,
      gone: seen.gone || result.gone,
    });
  }
  return [...impressions.values()];
}
