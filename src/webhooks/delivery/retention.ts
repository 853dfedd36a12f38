import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';

/*
 * Removes what is past its time: what deleted webhooks left, and events and deliveries (their attempts go with them)
 * older than the retention period. What has an unfinished delivery stays, and the delivery with it.
 *
 * Batches are small and skip rows that somebody holds; any number of processes may sweep at once. A pass walks each
 * table in the order of age, so that what stays is looked at once a pass and not once a batch.
 */

export interface Sweep {
  /** Sweeps one batch of each kind; answers whether this pass goes on. */
  next(): Promise<boolean>;
}

export function createSweep(
  database: Database,
  { days, batch = 1000 }: { days: number; batch?: number },
): Sweep {
  let delivery: number | null = 0;
  let event: string | null = firstEvent;
  return {
    async next() {
      const orphans = await removeOrphans(database, batch);
      if (delivery !== null) delivery = await removeDeliveries(database, { days, batch, after: delivery });
      else if (event !== null) event = await removeEvents(database, { days, batch, after: event });
      if (orphans > 0 || delivery !== null || event !== null) return true;
      delivery = 0;
      event = firstEvent;
      return false;
    },
  };
}

const firstEvent = '00000000-0000-0000-0000-000000000000';

interface Batch<Key> {
  days: number;
  batch: number;
  /** Where the last batch of this pass ended. */
  after: Key;
}

async function removeOrphans(database: Database, batch: number): Promise<number> {
  const { numAffectedRows } = await sql`
    with recursive known as (
      (select webhook_id from delivery order by webhook_id limit 1)
      union all
      select (select webhook_id from delivery
        where delivery.webhook_id > known.webhook_id order by webhook_id limit 1)
      from known where webhook_id is not null
    ),
    orphan as (
      select webhook_id from known
      where webhook_id is not null and not exists (select from webhook where webhook.webhook_id = known.webhook_id)
      limit 1
    )
    delete from delivery where (delivery_id, account_id) in (
      select delivery_id, account_id from delivery where webhook_id = (select webhook_id from orphan)
      order by delivery_id limit ${batch} for update skip locked
    )`.execute(database);
  return Number(numAffectedRows);
}

/** Answers where the batch ended, or null at the end of the pass. */
async function removeDeliveries(
  database: Database,
  { days, batch, after }: Batch<number>,
): Promise<number | null> {
  const { rows } = await sql<{ last: number | null }>`
    with old as (
      select delivery_id, account_id, state from (
        select delivery_id, account_id, state, created_at from delivery
        where delivery_id > ${after} order by delivery_id limit ${batch}
      ) as next
      where created_at < now() - make_interval(days => ${days})
    ),
    removed as (
      delete from delivery where state in ('delivered', 'failed') and (delivery_id, account_id) in (
        select delivery_id, account_id from old where state in ('delivered', 'failed'))
    )
    select max(delivery_id) as last from old`.execute(database);
  return rows[0]?.last ?? null;
}

/**
 * The events are locked by a statement of its own, so that the look at their deliveries shows what was queued by
 * those who held them (a replay).
 */
async function removeEvents(
  database: Database,
  { days, batch, after }: Batch<string>,
): Promise<string | null> {
  return database.transaction().execute(async (transaction) => {
    const old = await transaction
      .selectFrom('event')
      .select('event_id')
      .where('event_id', '>', after)
      .where('event_id', '<', sql<string>`(select uuidv7(make_interval(days => ${-days})))`)
      .orderBy('event_id')
      .limit(batch)
      .forUpdate()
      .skipLocked()
      .execute();
    const ids = old.map((event) => event.event_id);
    await sql`
      delete from event
      where event_id = any (${ids}::uuid[]) and relayed and not exists (
        select from webhook join delivery using (webhook_id)
        where webhook.account_id = event.account_id and delivery.record = event.record
          and delivery.event_sequence = event.sequence and delivery.state in ('held', 'pending')
      )`.execute(transaction);
    return ids.at(-1) ?? null;
  });
}
