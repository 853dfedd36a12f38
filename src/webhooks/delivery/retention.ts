/**
 * Removes what has expired. Events, the feed and the delivery log lose whole days at once, by dropping partitions.
 * Deliveries that have waited in the queue for as long as events are kept expire: they end as failed, and their
 * endpoint reports that. Queued deliveries of deleted webhooks are removed in batches, and their log with its
 * partitions.
 *
 * Only one process does this at a time, thanks to a lease. Dropping and creating partitions needs locks that a dump
 * may hold for hours: it gives up after a tenth of a second, so that nobody waits behind it, and the next pass tries
 * again.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { dropPartitions, keepPartitions } from '../../db/partitions.ts';
import { build, type Param, statement } from '../../db/statement.ts';
import { noteDue } from './due-endpoints.ts';
import { attemptsAt, endedColumns, enterLog, isLogging } from './log.ts';
import { lockEndpoints, type OrderingKey, promoteHeads } from './ordering.ts';

export interface Sweep {
  /**
   * Takes one step.
   * @returns whether this pass continues.
   */
  next(): Promise<boolean>;
}

export interface SweepOptions {
  /** How long events are kept, and deliveries that have ended. */
  days: number;
  /** Rows at most that one step takes from the queue. */
  batch?: number;
  /** Of the lease. */
  holder?: string;
  /** The same database, for what may take minutes. */
  unhurried?: Database;
}

/** Creates a sweep that removes what has expired, one bounded step at a time. */
export function createSweep(
  database: Database,
  { days, batch = 1000, holder = thisProcess, unhurried = database }: SweepOptions,
): Sweep {
  let webhook: number | null = 0;
  const steps: (() => Promise<boolean>)[] = [
    () => keepPartitions(database, unhurried),
    () => dropPartitions(database, days),
    async () => {
      const [removed] = await removeOrphans(database, { batch, after: webhook ?? 0 });
      webhook = removed?.last ?? null;
      return webhook !== null;
    },
    async () => (await expireBatch(database, { days, batch })) > 0,
    async () => (await moveEnded(database, { batch })).length > 0,
  ];
  let at = 0;
  return {
    async next() {
      const [leased] = await lease(database, { holder });
      if (!leased) return false;
      if (await steps[at]?.()) return true;
      at = (at + 1) % steps.length;
      return at > 0;
    },
  };
}

const thisProcess = randomUUID();

/** Ten minutes from each batch, so that one process sweeps and the next takes over when it is gone. */
const lease = statement('webhooks.retention.lease', (p: Param<{ holder: string }>) =>
  build
    .updateTable('sweeper')
    .set({ holder: p('holder', 'uuid'), leased_until: sql`now() + interval '10 minutes'` })
    .where(sql<boolean>`(holder = ${p('holder', 'uuid')} or leased_until <= now())`)
    .returning('holder'),
);

/**
 * Looks at as many endpoints as a batch has rows, and removes a batch of what the first deleted one has left. Ids in
 * an array: for a limit that is a parameter the planner expects a tenth of the table.
 * @returns where to continue: at the same endpoint as long as something of it is removed; null at the end of the
 *   pass.
 */
const removeOrphans = statement(
  'webhooks.retention.removeOrphans',
  (p: Param<{ batch: number; after: number }>) => sql<{ last: number | null }>`
    with recursive known as (
      (select webhook_id from delivery where webhook_id > ${p('after', 'bigint')} order by webhook_id limit 1)
      union all
      select (select webhook_id from delivery
        where delivery.webhook_id > known.webhook_id order by webhook_id limit 1)
      from known where webhook_id is not null
    ),
    listed as materialized (
      select webhook_id from known where webhook_id is not null limit ${p('batch', 'bigint')}
    ),
    orphan as (
      select webhook_id from listed
      where (select true from webhook where webhook.webhook_id = listed.webhook_id) is null
      order by webhook_id limit 1
    ),
    removed as (
      delete from delivery where delivery_id = any (array(
        select delivery_id from delivery where webhook_id = (select webhook_id from orphan)
        order by delivery_id limit ${p('batch', 'bigint')} for update skip locked
      ))
      returning 1
    )
    select coalesce(
      (select webhook_id - least(1, (select count(*) from removed)) from orphan),
      (select max(webhook_id) from listed)
    ) as last`,
);

/**
 * Ends the deliveries that have waited longer than events are kept, beginning with the oldest; of the deliveries that
 * follow for their records, those that have not become due. One whose attempt is in progress is left to the next
 * pass.
 * @returns how many were found.
 */
async function expireBatch(database: Database, limits: { days: number; batch: number }): Promise<number> {
  const old = await selectOld(database, limits);
  if (old.length === 0) return 0;
  const webhookIds = [...new Set(old.map(({ webhook_id }) => webhook_id))];
  await database.transaction().execute(async (transaction) => {
    await lockEndpoints(transaction, webhookIds);
    const expired = await expire(transaction, {
      delivery_ids: old.map(({ delivery_id }) => delivery_id),
      account_ids: old.map(({ account_id }) => account_id),
    });
    await promoteHeads(transaction, expired);
    await noteDue(transaction, webhookIds);
  });
  return old.length;
}

interface OldDelivery {
  delivery_id: number;
  account_id: number;
  webhook_id: number;
}

const isFree = sql`coalesce(leased_until <= now(), true)`;

const selectOld = statement(
  'webhooks.retention.old',
  (p: Param<{ days: number; batch: number }>) => sql<OldDelivery>`
    select delivery_id, account_id, webhook_id from delivery
    where state in ('held', 'pending') and ${isFree}
      and event_id < event_id_at(now() - make_interval(days => ${p('days', 'integer')}))
    order by event_id limit ${p('batch', 'bigint')}`,
);

const expire = statement(
  'webhooks.retention.expire',
  (p: Param<{ delivery_ids: number[]; account_ids: number[] }>) => sql<OrderingKey>`
    with ended as (
      delete from delivery
      using unnest(${p('delivery_ids', 'bigint[]')}, ${p('account_ids', 'bigint[]')}) as old (delivery_id, account_id)
      where delivery.delivery_id = old.delivery_id and delivery.account_id = old.account_id
        and state in ('held', 'pending') and ${isFree}
      returning ${endedColumns}
    ),
    logged as (${enterLog({
      state: sql`'failed'`,
      failedReason: sql`'expired'`,
      attemptCount: sql`attempts`,
      attempts: attemptsAt('ended'),
      endedAt: sql`now()`,
    })}),
    noted as (
      update webhook
      set expired_deliveries = expired_deliveries + expired.count,
        first_expired_at = coalesce(first_expired_at, now()), last_expired_at = now()
      from (select webhook_id, account_id, count(*) from ended group by webhook_id, account_id) as expired
      where webhook.webhook_id = expired.webhook_id and webhook.account_id = expired.account_id
    )
    select distinct webhook_id, record from ended`,
);

/** What processes of the release before have ended, and what had ended before there was a log. */
const moveEnded = statement(
  'webhooks.retention.moveEnded',
  (p: Param<{ batch: number }>) => sql<object>`
    with ended as (
      delete from delivery where ${isLogging} and delivery_id = any (array(
        select delivery_id from delivery where state in ('delivered', 'failed')
        order by delivery_id limit ${p('batch', 'bigint')} for update skip locked
      )) and state in ('delivered', 'failed')
      returning ${endedColumns}, state
    ),
    logged as (${enterLog({
      state: sql`state`,
      failedReason: sql`null`,
      attemptCount: sql`attempts`,
      attempts: attemptsAt('ended'),
      endedAt: sql`coalesce((select max(started_at) from attempt
        where attempt.delivery_id = ended.delivery_id and attempt.account_id = ended.account_id), created_at)`,
    })})
    select 1 from ended`,
);
