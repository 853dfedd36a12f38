/**
 * Removes what is past its time: what deleted webhooks left, and events and deliveries (their attempts go with them)
 * older than the retention period. What has an unfinished delivery stays, and the delivery with it.
 *
 * Batches are small and skip rows that somebody holds; any number of processes may sweep at once. A pass walks each
 * table in the order of age, so that what stays is looked at once a pass and not once a batch.
 */
import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { build, type Param, statement } from '../../db/statement.ts';

export interface Sweep {
  /** Sweeps one batch of each kind; says whether this pass goes on. */
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
      const orphans = await removeOrphans(database, { batch });
      if (delivery !== null) {
        const [removed] = await removeDeliveries(database, { days, batch, after: delivery });
        delivery = removed?.last ?? null;
      } else if (event !== null) {
        event = await removeEvents(database, { days, batch, after: event });
      }
      if (orphans.length > 0 || delivery !== null || event !== null) return true;
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

// Ids in an array, here and below: of a limit that is a parameter the planner expects a tenth of the table.
const removeOrphans = statement(
  'webhooks.retention.removeOrphans',
  (p: Param<{ batch: number }>) => sql<{ delivery_id: number }>`
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
    delete from delivery where delivery_id = any (array(
      select delivery_id from delivery where webhook_id = (select webhook_id from orphan)
      order by delivery_id limit ${p('batch', 'bigint')} for update skip locked
    ))
    returning delivery_id`,
);

/** Says where the batch ended; null at the end of the pass. */
const removeDeliveries = statement(
  'webhooks.retention.removeDeliveries',
  (p: Param<Batch<number>>) => sql<{ last: number | null }>`
    with old as (
      select delivery_id, state from (
        select delivery_id, state, created_at from delivery
        where delivery_id > ${p('after', 'bigint')} order by delivery_id limit ${p('batch', 'bigint')}
      ) as next
      where created_at < now() - make_interval(days => ${p('days', 'integer')})
    ),
    removed as (
      delete from delivery where state in ('delivered', 'failed') and delivery_id = any (array(
        select delivery_id from old where state in ('delivered', 'failed')))
    )
    select max(delivery_id) as last from old`,
);

/**
 * The events are locked by a statement of its own, so that the look at their deliveries shows what was queued by
 * those who held them (a replay).
 * @returns where the batch ended; null at the end of the pass.
 */
async function removeEvents(database: Database, batch: Batch<string>): Promise<string | null> {
  return database.transaction().execute(async (transaction) => {
    const old = await lockOldEvents(transaction, batch);
    const event_ids = old.map(({ event_id }) => event_id);
    await removeFinishedEvents(transaction, { event_ids });
    return event_ids.at(-1) ?? null;
  });
}

const lockOldEvents = statement('webhooks.retention.lockOldEvents', (p: Param<Batch<string>>) =>
  build
    .selectFrom('event')
    .select('event_id')
    .where('event_id', '>', p('after', 'uuid'))
    .where('event_id', '<', sql<string>`(select uuidv7(make_interval(days => -${p('days', 'integer')})))`)
    .orderBy('event_id')
    .limit(p('batch', 'bigint'))
    .forUpdate()
    .skipLocked(),
);

const removeFinishedEvents = statement(
  'webhooks.retention.removeFinishedEvents',
  (p: Param<{ event_ids: string[] }>) => sql<object>`
    delete from event
    where event_id = any (${p('event_ids', 'uuid[]')}) and relayed and not exists (
      select from webhook join delivery using (webhook_id)
      where webhook.account_id = event.account_id and delivery.record = event.record
        and delivery.event_sequence = event.sequence and delivery.state in ('held', 'pending')
    )`,
);
