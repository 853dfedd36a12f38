/**
 * Turns committed events into deliveries.
 *
 * A write inserts its event and puts it into the outbox, nothing else. The relay takes new events in bulk, gives them
 * their positions in the feed, finds the webhooks that subscribe to them, and queues a delivery for each. It takes
 * whatever is in the outbox instead of reading from a position: identity values become visible out of order. Within
 * one record they do not, since its row lock is held while they are drawn.
 *
 * Guarantee: each event is relayed exactly once, in one transaction, so a crash leaves it either queued or still to
 * be relayed. Only one relay works at a time (the row in `relay` is its lock): two could queue the events of a record
 * in the wrong order.
 *
 * Accounts take turns, so that one with a hundred thousand events delays another by no more than a batch or two. The
 * cost of a batch depends on its events and on the endpoints that subscribe to them, not on other endpoints.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { type Param, statement } from '../../db/statement.ts';
import { enterFeed, type Span, spanOf, type WaitingEvent } from '../../events/feed.ts';
import { noteDue } from './due-endpoints.ts';
import { wants } from './filters.ts';
import { lockEndpoints, planInOrder, queueDeliveries } from './ordering.ts';
import { type OutboxStart, rememberOutboxStart } from './outbox-start.ts';
import { ownerDisabledAt } from './owner.ts';

export interface RelayOptions {
  /** Events and deliveries of one batch at most, so that it stays far from the statement timeout. */
  maxEvents?: number;
  maxDeliveries?: number;
  /** Where the outbox begins, as far as this process knows. */
  start?: OutboxStart;
  /** An endpoint that has been disabled for longer than this, itself or its client, collects no more. */
  retentionDays: number;
}

/**
 * Relays one batch.
 * @returns how many events were relayed; 0 also when another process is relaying.
 */
export async function relayBatch(
  database: Database,
  { maxEvents = 1000, maxDeliveries = 2_000, start = rememberOutboxStart(), retentionDays }: RelayOptions,
): Promise<number> {
  try {
    // Most polls find nothing, and need no transaction to do so.
    if (!(await start.anyWaiting(database))) return 0;
    return await relayWaiting(database, { maxEvents, maxDeliveries, start, retentionDays });
  } catch (error) {
    start.forget();
    throw error;
  }
}

function relayWaiting(
  database: Database,
  { maxEvents, maxDeliveries, start, retentionDays }: Required<RelayOptions>,
): Promise<number> {
  return database.transaction().execute(async (transaction) => {
    // Events are read after the lock: a snapshot older than it could show those that were just relayed.
    const [entered] = await lockRelay(transaction, {});
    if (entered) start.entered(entered);
    if (!entered?.is_relay) return 0;
    const waiting = await selectWaiting(transaction, { from: start.from, limit: maxEvents });
    if (waiting.length === 0) return 0;
    const wanted = await endpointsWanting(transaction, waiting, retentionDays);
    const events = firstThatFit(waiting, wanted, maxDeliveries);
    await enterFeed(transaction, events);
    const pairs = events.flatMap((event) =>
      (wanted.get(event) ?? []).map((webhook_id) => ({ event, webhook_id })),
    );
    if (pairs.length > 0) {
      const webhookIds = [...new Set(pairs.map(({ webhook_id }) => webhook_id))];
      await lockEndpoints(transaction, webhookIds);
      await planInOrder(transaction);
      await queue(transaction, {
        event_ids: pairs.map(({ event }) => event.event_id),
        account_ids: pairs.map(({ event }) => event.account_id),
        webhook_ids: pairs.map(({ webhook_id }) => webhook_id),
        retention_days: retentionDays,
        ...spanOf(events),
      });
      await noteDue(transaction, webhookIds);
    }
    return events.length;
  });
}

/**
 * The first events of each account that has any, in turns: the first of each, then the second of each. If there are
 * more accounts than events in a batch, half of the batch are the oldest of all, so that no account is skipped
 * forever.
 */
const selectWaiting = statement(
  'webhooks.relay.waiting',
  (p: Param<{ from: number; limit: number }>) => sql<WaitingEvent>`
    with recursive known as (
      (select account_id from outbox where sequence >= ${p('from', 'bigint')} order by account_id limit 1)
      union all
      select (select account_id from outbox
        where outbox.account_id > known.account_id and sequence >= ${p('from', 'bigint')} order by account_id limit 1)
      from known where account_id is not null
    ),
    account as materialized (
      select account_id, count(*) over () as accounts
      from (select account_id from known where account_id is not null limit ${p('limit', 'bigint')}) as listed
    ),
    candidate as (
      select own.* from account, lateral (
        select sequence, account_id, event_id from outbox
        where outbox.account_id = account.account_id and sequence >= ${p('from', 'bigint')}
        order by sequence limit greatest(1, ${p('limit', 'bigint')} / accounts)
      ) as own
      union
      (select sequence, account_id, event_id from outbox
        where sequence >= ${p('from', 'bigint')} order by sequence
        limit case when (select count(*) from account) = ${p('limit', 'bigint')} then ${p('limit', 'bigint')} / 2 else 0 end)
    )
    select sequence, account_id, event_id from candidate
    order by row_number() over (partition by account_id order by sequence), sequence
    limit ${p('limit', 'bigint')}`,
);

const lockRelay = statement(
  'webhooks.relay.lock',
  () => sql<{ is_relay: boolean; xid: string; server: string | null }>`
    select is_relay is not null as is_relay, pg_current_xact_id()::text as xid, server_history() as server
    from (values (1)) as one left join lateral (
      select singleton as is_relay from relay for update skip locked
    ) as locked on true`,
);

/**
 * Looks up each kind of event once: those of one type at one menu go to the same endpoints. Each look-up uses the
 * index of routes, whatever number the planner expects: hence `offset 0`.
 */
async function endpointsWanting(
  transaction: Database,
  events: WaitingEvent[],
  retention_days: number,
): Promise<Map<WaitingEvent, number[]>> {
  const kinds = await selectKinds(transaction, {
    event_ids: events.map(({ event_id }) => event_id),
    account_ids: events.map(({ account_id }) => account_id),
    retention_days,
    ...spanOf(events),
  });
  const wanted = new Map<WaitingEvent, number[]>();
  for (const { places, webhook_ids } of kinds) {
    for (const place of places) {
      const event = events[place - 1];
      if (event) wanted.set(event, webhook_ids);
    }
  }
  return wanted;
}

interface Kind {
  /** Of its events among those that were given; 1 is the first. */
  places: number[];
  /** Endpoints that want them. */
  webhook_ids: number[];
}

const selectKinds = statement(
  'webhooks.relay.endpoints',
  (p: Param<Span & { event_ids: string[]; account_ids: number[]; retention_days: number }>) => sql<Kind>`
    with feed as materialized (
      select account_id, type, location_id, menu_id, array_agg(place::int) as places
      from unnest(${p('event_ids', 'uuid[]')}, ${p('account_ids', 'bigint[]')})
        with ordinality as waiting (event_id, account_id, place)
      join event using (event_id, account_id)
      where event.event_id between ${p('first_id', 'uuid')} and ${p('last_id', 'uuid')}
      group by account_id, type, location_id, menu_id
    )
    select feed.places, array_agg(wanting.webhook_id::float8) as webhook_ids
    from feed, lateral (
      select webhook_id from webhook
      where webhook.account_id = feed.account_id
        and ${routes('webhook')} && event_routes(feed.account_id, feed.type, feed.location_id, feed.menu_id)
        and ${collects(p('retention_days', 'integer'))}
      offset 0
    ) as wanting
    group by feed.places`,
);

function routes(row: string) {
  const columns = ['account_id', 'event_types', 'location_ids', 'menu_ids', 'granted_location_ids'];
  return sql`webhook_routes(${sql.join(columns.map((column) => sql.ref(`${row}.${column}`)))})`;
}

/** Whether a row of `webhook` wants a row of `feed`, and has not been disabled for too long. */
function collects(retentionDays: RawBuilder<number>) {
  return sql`${wants()} and coalesce(least(webhook.disabled_at, ${ownerDisabledAt()})
    > now() - make_interval(days => ${retentionDays}), true)`;
}

/** Always the first event, and as many behind it as make no more than `max` deliveries. */
function firstThatFit(
  events: WaitingEvent[],
  wanted: ReadonlyMap<WaitingEvent, readonly number[]>,
  max: number,
): WaitingEvent[] {
  let deliveries = 0;
  const tooMany = events.findIndex((event, place) => {
    deliveries += wanted.get(event)?.length ?? 0;
    return deliveries > max && place > 0;
  });
  return tooMany === -1 ? events : events.slice(0, tooMany);
}

/**
 * Those that are still wanted now that the endpoints are locked; all events are in the feed by now. Both are looked up
 * by their keys (hence `offset 0`). Else the planner takes the whole span for one row where the account is new, and
 * reads it for each event; or goes through the endpoints of all accounts, which have the order that it must not sort by.
 */
const queue = statement(
  'webhooks.relay.queue',
  (
    p: Param<
      Span & { event_ids: string[]; account_ids: number[]; webhook_ids: number[]; retention_days: number }
    >,
  ) =>
    queueDeliveries(sql`
      select feed.account_id, webhook.webhook_id, feed.event_id, feed.position, feed.type, feed.record,
        null::bigint as replay_id
      from unnest(
        ${p('event_ids', 'uuid[]')}, ${p('account_ids', 'bigint[]')}, ${p('webhook_ids', 'bigint[]')}
      ) as relayed (event_id, account_id, webhook_id)
      cross join lateral (
        select * from feed
        where feed.event_id = relayed.event_id and feed.account_id = relayed.account_id
          and feed.event_id between ${p('first_id', 'uuid')} and ${p('last_id', 'uuid')}
        offset 0
      ) as feed
      cross join lateral (
        select * from webhook
        where webhook.webhook_id = relayed.webhook_id and webhook.account_id = relayed.account_id
        offset 0
      ) as webhook
      where ${collects(p('retention_days', 'integer'))}`),
);
