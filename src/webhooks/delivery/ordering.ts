/**
 * Deliveries of one record to one endpoint have an ordering key in common and go out one after the other. Only the
 * head of a key is `pending`; the rest is `held`, so that claiming never wades through a backlog, and a failing event
 * holds back its own record only.
 *
 * Invariant: a key with an unfinished delivery has a pending one. Who adds to a key (the relay, a replay) and who
 * ends a head decide by what they see of each other. So both lock the endpoint's row, in the order of ids, hold it
 * until they commit, and look at the key in a later statement, whose snapshot shows what the other committed.
 * Endpoints are locked before deliveries, so that nobody waits in a circle.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { build, type Param, statement } from '../../db/statement.ts';

/** What deliveries are kept in order by. */
export interface OrderingKey {
  webhook_id: number;
  record: string;
}

/** Excludes other changers of the deliveries of these endpoints until the transaction ends. */
export async function lockEndpoints(transaction: Database, webhook_ids: number[]): Promise<void> {
  await lockWebhooks(transaction, { webhook_ids });
}

const lockWebhooks = statement('webhooks.lockEndpoints', (p: Param<{ webhook_ids: number[] }>) =>
  build
    .selectFrom('webhook')
    .select('webhook_id')
    .where(sql<boolean>`webhook_id = any (${p('webhook_ids', 'bigint[]')})`)
    .orderBy('webhook_id')
    .forNoKeyUpdate(),
);

/**
 * SQL that queues deliveries: the first of a key is due, unless an earlier one is unfinished; those behind it are held
 * until it ends. The endpoints must be locked, and the events too where retention could remove them.
 * @param wanted a select of account_id, webhook_id, event_id, sequence, type, record and replay_id.
 * @returns a query of one row that tells how many were queued.
 */
export function queueDeliveries(wanted: RawBuilder<unknown>): RawBuilder<{ queued: number }> {
  return sql`
    with inserted as (
      insert into delivery
        (account_id, webhook_id, event_id, event_sequence, event_type, record, replay_id, state, next_attempt_at)
      select account_id, webhook_id, event_id, sequence, type, record, replay_id,
        case when is_head then 'pending' else 'held' end, case when is_head then now() end
      from (
        select wanted.*,
          row_number() over (partition by webhook_id, record order by sequence) = 1 and not exists (
            select from delivery as ahead
            where ahead.webhook_id = wanted.webhook_id and ahead.record = wanted.record
              and ahead.state in ('held', 'pending')
          ) as is_head
        from (${wanted}) as wanted
      ) as placed
      order by sequence
      returning 1
    )
    select count(*) as queued from inserted`;
}

/** Makes the heads of these keys due; the endpoints must be locked. */
export async function promoteHeads(transaction: Database, keys: OrderingKey[]): Promise<void> {
  await promote(transaction, {
    webhook_ids: keys.map(({ webhook_id }) => webhook_id),
    records: keys.map(({ record }) => record),
  });
}

const promote = statement(
  'webhooks.promoteHeads',
  (p: Param<{ webhook_ids: number[]; records: string[] }>) => sql<object>`
    update delivery set state = 'pending', next_attempt_at = now()
    where state = 'held' and (delivery_id, account_id) in (
      select head.delivery_id, head.account_id
      from unnest(${p('webhook_ids', 'bigint[]')}, ${p('records', 'text[]')}) as key (webhook_id, record),
      lateral (
        select delivery_id, account_id from delivery
        where delivery.webhook_id = key.webhook_id and delivery.record = key.record
          and delivery.state in ('held', 'pending')
        order by event_sequence limit 1
      ) as head
    )`,
);
