import { sql, type Transaction } from 'kysely';
import type { DB } from '../../../generated/database.ts';
import type { Database } from '../../db/database.ts';
import { lockEndpoints } from './lanes.ts';

/*
 * Turns committed events into deliveries.
 *
 * A write inserts its event and nothing else. The relay takes new events in bulk, finds the webhooks that want
 * them, and queues a delivery for each. It goes by the row's state (`relayed`), never by position: identity values
 * become visible out of order.
 *
 * Guarantee: each event is relayed exactly once, in one transaction, so a crash leaves it either queued or still to
 * relay. One relay works at a time (the row in `relay` is its lock): two at once could queue the events of a record
 * in the wrong order.
 */

/**
 * Relays one batch.
 * @returns how many events were relayed; 0 also when another process is relaying.
 */
export async function relayBatch(database: Database, batch = 1000): Promise<number> {
  return database.transaction().execute(async (transaction) => {
    const lock = await transaction.selectFrom('relay').select('singleton').forUpdate().skipLocked().execute();
    if (lock.length === 0) return 0;
    const events = await takeEvents(transaction, batch);
    if (events.length === 0) return 0;
    const endpoints = await endpointsOf(transaction, events);
    if (endpoints.length > 0) {
      await lockEndpoints(transaction, endpoints);
      await queueDeliveries(transaction, events);
    }
    return events.length;
  });
}

async function takeEvents(transaction: Transaction<DB>, batch: number): Promise<string[]> {
  const rows = await transaction
    .updateTable('event')
    .set({ relayed: true })
    .where('relayed', '=', false)
    .where('sequence', 'in', (db) =>
      db.selectFrom('event').select('sequence').where('relayed', '=', false).orderBy('sequence').limit(batch),
    )
    .returning('event_id')
    .execute();
  return rows.map((row) => row.event_id);
}

async function endpointsOf(transaction: Transaction<DB>, events: string[]): Promise<number[]> {
  const rows = await transaction
    .selectFrom('webhook')
    .select('webhook_id')
    .where('account_id', 'in', (db) =>
      db.selectFrom('event').select('account_id').where(sql<boolean>`event_id = any (${events}::uuid[])`),
    )
    .execute();
  return rows.map((row) => row.webhook_id);
}

/** The first of a record's deliveries to an endpoint is due; those behind it are held until it ends. */
async function queueDeliveries(transaction: Transaction<DB>, events: string[]): Promise<void> {
  await sql`
    with wanted as (
      select event.account_id, webhook.webhook_id, event.event_id, event.sequence, event.record,
        row_number() over (partition by webhook.webhook_id, event.record order by event.sequence) as place
      from event join webhook on webhook.account_id = event.account_id
      where event.event_id = any (${events}::uuid[])
        and (webhook.event_types = '{}'
          or event.type = any (webhook.event_types)
          or split_part(event.type, '.', 1) || '.*' = any (webhook.event_types))
        and (webhook.location_ids = '{}' or event.location_id = any (webhook.location_ids))
        and (webhook.menu_ids = '{}' or event.menu_id = any (webhook.menu_ids))
        and (webhook.granted_location_ids is null or event.location_id = any (webhook.granted_location_ids))
    )
    insert into delivery (account_id, webhook_id, event_id, event_sequence, record, state)
    select account_id, webhook_id, event_id, sequence, record,
      case when place > 1 or exists (
        select from delivery as ahead
        where ahead.webhook_id = wanted.webhook_id and ahead.record = wanted.record
          and ahead.state in ('held', 'pending')
      ) then 'held' else 'pending' end
    from wanted order by sequence`.execute(transaction);
}
