import { sql, type Transaction } from 'kysely';
import type { DB } from '../../../generated/database.ts';
import type { Database } from '../../db/database.ts';
import { build, statement } from '../../db/statement.ts';
import { wants } from './filters.ts';
import { addToLanes, lockEndpoints } from './ordering.ts';

/*
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
  if (!(await anyWaiting(database))) return 0;
  return database.transaction().execute(async (transaction) => {
    if (!(await lockRelay(transaction))) return 0;
    const waiting = await selectWaiting(transaction, maxEvents);
    if (waiting.length === 0) return 0;
    const endpoints = await selectEndpoints(transaction, waiting);
    const events = firstThatFit(waiting, endpoints, maxDeliveries);
    await markRelayed(transaction, events);
    const webhookIds = endpoints.map((endpoint) => endpoint.webhook_id);
    if (webhookIds.length > 0) {
      await lockEndpoints(transaction, webhookIds);
      await addToLanes(transaction, wanted(events, webhookIds, retentionDays));
    }
    return events.length;
  });
}

async function anyWaiting(database: Database): Promise<boolean> {
  return (await selectOneWaiting(database, {})).length > 0;
}

const selectOneWaiting = statement<Record<never, never>, { sequence: number }>(() =>
  build
    .selectFrom('event')
    .select('sequence')
    .where('relayed', '=', sql.lit(false))
    .orderBy('sequence')
    .limit(sql.lit(1)),
);

interface WaitingEvent {
  event_id: string;
  account_id: number;
}

// Events are read after this returns: a snapshot older than the lock could show those that were just relayed.
async function lockRelay(transaction: Transaction<DB>): Promise<boolean> {
  const lock = await transaction.selectFrom('relay').select('singleton').forUpdate().skipLocked().execute();
  return lock.length > 0;
}

function selectWaiting(transaction: Transaction<DB>, limit: number): Promise<WaitingEvent[]> {
  return transaction
    .selectFrom('event')
    .select(['event_id', 'account_id'])
    .where('relayed', '=', false)
    .orderBy('sequence')
    .limit(limit)
    .execute();
}

function selectEndpoints(
  transaction: Transaction<DB>,
  events: WaitingEvent[],
): Promise<{ webhook_id: number; account_id: number }[]> {
  const accounts = [...new Set(events.map((event) => event.account_id))];
  return transaction
    .selectFrom('webhook')
    .select(['webhook_id', 'account_id'])
    .where(sql<boolean>`account_id = any (${accounts}::bigint[])`)
    .execute();
}

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

async function markRelayed(transaction: Transaction<DB>, events: WaitingEvent[]): Promise<void> {
  await sql`
    update event set relayed = true from ${rowsOf(events)} as taken (event_id, account_id)
    where event.event_id = taken.event_id and event.account_id = taken.account_id`.execute(transaction);
}

/** Which of these endpoints want which of these events. */
function wanted(events: WaitingEvent[], webhookIds: number[], retentionDays: number) {
  return sql`
    select event.account_id, webhook.webhook_id, event.event_id, event.sequence, event.type, event.record,
      null::bigint as replay_id
    from ${rowsOf(events)} as taken (event_id, account_id)
    join event using (event_id, account_id)
    join webhook using (account_id)
    where webhook.webhook_id = any (${webhookIds}::bigint[]) and ${wants()}
      and (webhook.disabled_at is null or webhook.disabled_at > now() - make_interval(days => ${retentionDays}))`;
}

// Both columns of the key: by one alone the planner cannot know that it finds a single row, and may scan the table.
function rowsOf(events: WaitingEvent[]) {
  const ids = events.map((event) => event.event_id);
  const accounts = events.map((event) => event.account_id);
  return sql`unnest(${ids}::uuid[], ${accounts}::bigint[])`;
}
