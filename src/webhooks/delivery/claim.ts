/**
 * Leases due deliveries to the process that attempts them. All times are the database's, so the clocks of the
 * processes do not matter. The end of the lease is also its token: after it, another process may claim the delivery,
 * which sets another end, and a result that arrives with the old one changes nothing.
 */
import { sql } from 'kysely';
import { isStaying } from '../../db/cell.ts';
import type { Database } from '../../db/database.ts';
import { type Param, statement } from '../../db/statement.ts';
import { toldPayload } from '../../events/event.ts';
import { type Span, spanOf } from '../../events/feed.ts';
import { claimsLookBackSeconds } from './due-endpoints.ts';
import { allowedAttempts } from './endpoint-health.ts';
import { ownerMayRead, ownerObjection } from './owner.ts';

/** A delivery this process may attempt until its lease runs out; then another process may. */
export interface Claim {
  delivery_id: number;
  account_id: number;
  webhook_id: number;
  record: string;
  /** Position of its event among those of the account, by which the deliveries of a record go out. */
  event_sequence: number;
  /** Of this attempt; 1 for the first. */
  number: number;
  /** The same, without those that the schedule does not count. */
  step: number;
  claimed_at: Date;
  leased_until: Date;
  event_id: string;
  payload: string;
  url: string;
  /** Whether the endpoint's client may still read the event's location. */
  is_permitted: boolean;
  sealed_secrets: Buffer[];
}

export interface ClaimLimits {
  /** Deliveries to claim, over all endpoints. */
  limit: number;
  /** How many attempts at one endpoint this process may have in progress. */
  perEndpoint: number;
  /** Attempts in progress in this process, by webhook. */
  busy: ReadonlyMap<number, number>;
  leaseMs: number;
}

/**
 * Claims due deliveries, for each endpoint those that have waited longest. Endpoints come in random order and each
 * gets at most its free slots, so that the limit does not always cut off the same ones.
 */
export async function claimDue(
  database: Database,
  { limit, perEndpoint, busy, leaseMs }: ClaimLimits,
): Promise<Claim[]> {
  const leased = await lease(database, {
    limit,
    per_endpoint: perEndpoint,
    busy_ids: [...busy.keys()],
    busy_attempts: [...busy.values()],
    lease_seconds: leaseMs / 1000,
  });
  return leased.length === 0 ? [] : withEvents(database, leased);
}

/** Of those at which something is due, to choose from. The others take their turns as these are put off. */
const mostEndpoints = 10_000;

interface LeaseValues {
  limit: number;
  per_endpoint: number;
  busy_ids: number[];
  busy_attempts: number[];
  lease_seconds: number;
}

type Leased = Omit<Claim, keyof EventPart>;

const lease = statement(
  'webhooks.claim',
  (p: Param<LeaseValues>) => sql<Leased & { event_uuid: string }>`
    with listed as materialized (
      select webhook_id, account_id, oldest_at from endpoint_due
      where look_at > now() - make_interval(secs => ${sql.lit(claimsLookBackSeconds)}) and look_at <= now()
      order by look_at limit ${sql.lit(mostEndpoints)}
    ),
    endpoint as (
      select webhook.webhook_id, webhook.account_id, webhook.client_id, webhook.url, listed.oldest_at,
        ${allowedAttempts(p('per_endpoint', 'integer'))} - coalesce(busy.attempts, 0) as places
      from listed cross join lateral (
        select * from webhook
        where webhook.webhook_id = listed.webhook_id and webhook.account_id = listed.account_id limit 1
      ) as webhook
      left join unnest(${p('busy_ids', 'bigint[]')}, ${p('busy_attempts', 'int[]')})
        as busy (webhook_id, attempts) on busy.webhook_id = webhook.webhook_id
      where webhook.enabled and ${ownerObjection()} is null and ${isStaying('webhook.account_id')}
      order by random()
    ),
    due as materialized (
      select head.delivery_id
      from endpoint, lateral (
        select delivery_id from delivery
        where delivery.webhook_id = endpoint.webhook_id and state = 'pending'
          and next_attempt_at >= endpoint.oldest_at and next_attempt_at <= now()
          and (leased_until is null or leased_until <= now())
        order by next_attempt_at limit greatest(endpoint.places, 0)
        for update skip locked
      ) as head
      limit ${p('limit', 'bigint')}
    ),
    claimed as (
      update delivery set leased_until = now() + make_interval(secs => ${p('lease_seconds', 'float8')})
      where delivery_id = any (array(select delivery_id from due))
      returning delivery_id, account_id, webhook_id, record, event_sequence, attempts, spared, event_id, leased_until
    )
    select claimed.delivery_id, claimed.account_id, claimed.webhook_id, claimed.record, claimed.event_sequence,
      claimed.attempts + 1 as number, claimed.attempts + 1 - coalesce(claimed.spared, 0) as step, now() as claimed_at,
      claimed.leased_until, claimed.event_id as event_uuid, webhook.url,
      array(select sealed_secret from webhook_secret
        where webhook_secret.webhook_id = claimed.webhook_id and webhook_secret.account_id = claimed.account_id
          and (expires_at is null or expires_at > now())
        order by expires_at desc nulls first) as sealed_secrets
    from claimed
    join endpoint as webhook on webhook.webhook_id = claimed.webhook_id`,
);

type EventPart = Pick<Claim, 'event_id' | 'payload' | 'is_permitted'>;

/**
 * A separate statement, which knows the ids: it opens only the partitions between the first and the last of them. A
 * delivery whose event is gone is left out, and expires.
 */
async function withEvents(database: Database, leased: (Leased & { event_uuid: string })[]): Promise<Claim[]> {
  const events = await selectEvents(database, {
    event_ids: leased.map(({ event_uuid }) => event_uuid),
    account_ids: leased.map(({ account_id }) => account_id),
    webhook_ids: leased.map(({ webhook_id }) => webhook_id),
    ...spanOf(leased.map(({ event_uuid }) => ({ event_id: event_uuid }))),
  });
  return events.map(({ place, ...event }) => {
    const { event_uuid, ...claim } = leased[place - 1] as (typeof leased)[number];
    return { ...claim, ...event };
  });
}

const selectEvents = statement(
  'webhooks.claim.events',
  (p: Param<Span & { event_ids: string[]; account_ids: number[]; webhook_ids: number[] }>) => sql<
    EventPart & { place: number }
  >`
    select place::int, event_id_text(event.event_id) as event_id, ${toldPayload()} as payload,
      ${ownerMayRead(sql.ref('event.location_id'))} as is_permitted
    from unnest(
      ${p('event_ids', 'uuid[]')}, ${p('account_ids', 'bigint[]')}, ${p('webhook_ids', 'bigint[]')}
    ) with ordinality as leased (event_id, account_id, webhook_id, place)
    join event using (event_id, account_id)
    join webhook using (webhook_id, account_id)
    where event.event_id between ${p('first_id', 'uuid')} and ${p('last_id', 'uuid')}
    order by place`,
);
