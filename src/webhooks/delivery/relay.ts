/**
 * Turns committed events into deliveries.
 *
 * A write inserts its event and nothing else. The relay takes new events in bulk, finds the webhooks that want
 * them, and queues a delivery for each. It goes by the row's state (`relayed`), never by position: identity values
 * become visible out of order. Within one record they do not, since its row lock is held while they are drawn.
 *
 * Guarantee: each event is relayed exactly once, in one transaction, so a crash leaves it either queued or still to
 * relay. One relay works at a time (the row in `relay` is its lock): two at once could queue the events of a record
 * in the wrong order.
 */
import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { build, type Param, statement } from '../../db/statement.ts';
import { wants } from './filters.ts';
import { lockEndpoints, queueDeliveries } from './ordering.ts';

export interface RelayOptions {
  /** Events and deliveries of one batch at most, so that it stays far from the statement timeout. */
  maxEvents?: number;
  maxDeliveries?: number;
  /** An endpoint that the service has disabled for longer than this collects no more. */
  retentionDays: number;
}

/**
 * Relays one batch.
 * @returns how many events were relayed; 0 also when another process is relaying.
 */
export async function relayBatch(
  database: Database,
  { maxEvents = 1000, maxDeliveries = 5_000, retentionDays }: RelayOptions,
): Promise<number> {
  // Most polls find nothing, and need no transaction to do so.
  const [any] = await selectWaiting(database, { limit: 1 });
  if (!any) return 0;
  return database.transaction().execute(async (transaction) => {
    // Events are read after the lock: a snapshot older than it could show those that were just relayed.
    const [lock] = await lockRelay(transaction, {});
    if (!lock) return 0;
    const waiting = await selectWaiting(transaction, { limit: maxEvents });
    if (waiting.length === 0) return 0;
    const endpoints = await selectEndpoints(transaction, { account_ids: accountsOf(waiting) });
    const events = columnsOf(firstThatFit(waiting, endpoints, maxDeliveries));
    await markRelayed(transaction, events);
    const webhook_ids = endpoints.map(({ webhook_id }) => webhook_id);
    if (webhook_ids.length > 0) {
      await lockEndpoints(transaction, webhook_ids);
      await queue(transaction, { ...events, webhook_ids, retention_days: retentionDays });
    }
    return events.event_ids.length;
  });
}

interface WaitingEvent {
  event_id: string;
  account_id: number;
}

const selectWaiting = statement('webhooks.relay.waiting', (p: Param<{ limit: number }>) =>
  build
    .selectFrom('event')
    .select(['event_id', 'account_id'])
    .where('relayed', '=', false)
    .orderBy('sequence')
    .limit(p('limit', 'bigint')),
);

const lockRelay = statement('webhooks.relay.lock', () =>
  build.selectFrom('relay').select('singleton').forUpdate().skipLocked(),
);

function accountsOf(events: WaitingEvent[]): number[] {
  return [...new Set(events.map(({ account_id }) => account_id))];
}

const selectEndpoints = statement('webhooks.relay.endpoints', (p: Param<{ account_ids: number[] }>) =>
  build
    .selectFrom('webhook')
    .select(['webhook_id', 'account_id'])
    .where(sql<boolean>`account_id = any (${p('account_ids', 'bigint[]')})`),
);

/** Always the first event, and as many behind it as make no more than `max` deliveries, should all be wanted. */
function firstThatFit(
  events: WaitingEvent[],
  endpoints: readonly { account_id: number }[],
  max: number,
): WaitingEvent[] {
  const perAccount = new Map<number, number>();
  for (const { account_id } of endpoints) perAccount.set(account_id, (perAccount.get(account_id) ?? 0) + 1);
  let deliveries = 0;
  const tooMany = events.findIndex(({ account_id }, place) => {
    deliveries += perAccount.get(account_id) ?? 0;
    return deliveries > max && place > 0;
  });
  return tooMany === -1 ? events : events.slice(0, tooMany);
}

interface EventColumns {
  event_ids: string[];
  account_ids: number[];
}

function columnsOf(events: WaitingEvent[]): EventColumns {
  return {
    event_ids: events.map(({ event_id }) => event_id),
    account_ids: events.map(({ account_id }) => account_id),
  };
}

const markRelayed = statement(
  'webhooks.relay.markRelayed',
  (p: Param<EventColumns>) => sql<object>`
    update event set relayed = true from ${rowsOf(p)} as taken (event_id, account_id)
    where event.event_id = taken.event_id and event.account_id = taken.account_id`,
);

/** Which of these endpoints want which of these events. */
const queue = statement(
  'webhooks.relay.queue',
  (p: Param<EventColumns & { webhook_ids: number[]; retention_days: number }>) =>
    queueDeliveries(sql`
      select event.account_id, webhook.webhook_id, event.event_id, event.sequence, event.type, event.record,
        null::bigint as replay_id
      from ${rowsOf(p)} as taken (event_id, account_id)
      join event using (event_id, account_id)
      join webhook using (account_id)
      where webhook.webhook_id = any (${p('webhook_ids', 'bigint[]')}) and ${wants()}
        and (webhook.disabled_at is null
          or webhook.disabled_at > now() - make_interval(days => ${p('retention_days', 'integer')}))`),
);

// Both columns of the key: by one alone the planner cannot know that it finds a single row, and may scan the table.
function rowsOf(p: Param<EventColumns>) {
  return sql`unnest(${p('event_ids', 'uuid[]')}, ${p('account_ids', 'bigint[]')})`;
}
