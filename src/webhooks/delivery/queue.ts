import { sql, type Transaction } from 'kysely';
import type { DB } from '../../../generated/database.ts';
import type { Database } from '../../db/database.ts';
import type { AttemptResult } from './deliver.ts';
import { lockEndpoints, promoteHeads } from './lanes.ts';

/** A delivery this process may attempt until its lease runs out; then another process may. */
export interface Claim {
  delivery_id: number;
  account_id: number;
  webhook_id: number;
  record: string;
  /** 1 for the first attempt. */
  number: number;
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

// Longer than an attempt can take, so that a lease runs out only when its holder is gone.
const leaseSeconds = 60;

/**
 * Claims due deliveries and leases them to this process. Endpoints are served side by side: each gives at most its
 * free places, so that one with a large backlog cannot crowd out the rest.
 * @param busy attempts under way in this process, by webhook.
 */
export async function claimDue(
  database: Database,
  { limit, perEndpoint, busy }: { limit: number; perEndpoint: number; busy: ReadonlyMap<number, number> },
): Promise<Claim[]> {
  const { rows } = await sql<Claim>`
    with recursive waiting as (
      (select webhook_id from delivery where state = 'pending' order by webhook_id limit 1)
      union all
      select (select webhook_id from delivery
        where state = 'pending' and delivery.webhook_id > waiting.webhook_id order by webhook_id limit 1)
      from waiting where webhook_id is not null
    ),
    endpoint as (
      select webhook.webhook_id, webhook.url, ${perEndpoint} - coalesce(busy.attempts, 0) as free
      from waiting join webhook using (webhook_id)
      left join unnest(${[...busy.keys()]}::bigint[], ${[...busy.values()]}::int[])
        as busy (webhook_id, attempts) using (webhook_id)
      where webhook.enabled
    ),
    due as materialized (
      select delivery_id
      from endpoint, lateral (
        select delivery_id from delivery
        where delivery.webhook_id = endpoint.webhook_id and state = 'pending' and next_attempt_at <= now()
        order by next_attempt_at limit greatest(endpoint.free, 0)
        for update skip locked
      ) as head
      limit ${limit}
    ),
    claimed as (
      update delivery
      set attempts = attempts + 1, next_attempt_at = now() + make_interval(secs => ${leaseSeconds})
      where delivery_id in (select delivery_id from due)
      returning delivery_id, account_id, webhook_id, record, attempts, event_id
    )
    select claimed.delivery_id, claimed.account_id, claimed.webhook_id, claimed.record, claimed.attempts as number,
      event_id_text(event.event_id) as event_id, event.payload, endpoint.url,
      array(select sealed_secret from webhook_secret
        where webhook_secret.webhook_id = claimed.webhook_id and webhook_secret.account_id = claimed.account_id
          and (expires_at is null or expires_at > now())
        order by expires_at desc nulls first) as sealed_secrets
    from claimed
    join event on event.event_id = claimed.event_id and event.account_id = claimed.account_id
    join endpoint on endpoint.webhook_id = claimed.webhook_id`.execute(database);
  return rows;
}

/**
 * Writes a batch of outcomes with their attempts into the log, and makes due what waited behind those that ended.
 * An outcome whose lease was lost to another process changes nothing.
 */
export async function recordOutcomes(database: Database, outcomes: Outcome[]): Promise<void> {
  const webhookIds = [...new Set(outcomes.map(({ claim }) => claim.webhook_id))];
  await database.transaction().execute(async (transaction) => {
    await lockEndpoints(transaction, webhookIds);
    await writeOutcomes(transaction, outcomes);
    const ended = outcomes.filter(({ state }) => state !== 'pending').map(({ claim }) => claim);
    if (ended.length > 0) await promoteHeads(transaction, ended);
    const gone = outcomes.filter(({ result }) => result.gone).map(({ claim }) => claim.webhook_id);
    if (gone.length > 0) await disableGone(transaction, gone);
  });
}

async function writeOutcomes(transaction: Transaction<DB>, outcomes: Outcome[]): Promise<void> {
  const column = <T>(value: (outcome: Outcome) => T) => outcomes.map(value);
  await sql`
    with outcome as (
      select * from unnest(
        ${column(({ claim }) => claim.delivery_id)}::bigint[],
        ${column(({ claim }) => claim.number)}::smallint[],
        ${column(({ state }) => state)}::text[],
        ${column(({ retryInMs }) => retryInMs)}::float8[],
        ${column(({ startedAt }) => startedAt)}::timestamptz[],
        ${column(({ result }) => result.durationMs)}::int[],
        ${column(({ result }) => result.status)}::smallint[],
        ${column(({ result }) => result.error)}::text[],
        ${column(({ result }) => result.responseExcerpt)}::text[]
      ) as outcome (delivery_id, number, state, retry_in_ms, started_at, duration_ms, status, error, response_excerpt)
    ),
    recorded as (
      update delivery
      set state = outcome.state,
        next_attempt_at = now() + make_interval(secs => outcome.retry_in_ms / 1000)
      from outcome
      where delivery.delivery_id = outcome.delivery_id
        and delivery.state = 'pending' and delivery.attempts = outcome.number
      returning delivery.delivery_id, delivery.account_id
    )
    insert into attempt (delivery_id, account_id, number, started_at, duration_ms, status, error, response_excerpt)
    select delivery_id, account_id, number, started_at, duration_ms, status, error, response_excerpt
    from outcome join recorded using (delivery_id)`.execute(transaction);
}

async function disableGone(transaction: Transaction<DB>, webhookIds: number[]): Promise<void> {
  await transaction
    .updateTable('webhook')
    .set({
      enabled: false,
      disabled_reason: 'gone',
      disabled_at: sql`now()`,
      updated_at: sql`clock_timestamp()`,
      version: sql`version + 1`,
    })
    .where(sql<boolean>`webhook_id = any (${webhookIds}::bigint[])`)
    .where('enabled', '=', true)
    .execute();
}
