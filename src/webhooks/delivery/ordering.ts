/**
 * Deliveries of one record to one endpoint share an ordering key and are sent one after the other. Only the first of
 * a key, its head, is `pending`; the rest is `held`, so that claiming never has to search a backlog, and a failing
 * event delays only its own record.
 *
 * Invariant: a key with an unfinished delivery has a pending one. Whoever adds to a key (the relay, a replay) and
 * whoever ends a head depend on what they see of each other. So both lock the endpoint's row, in the order of ids,
 * hold it until they commit, and read the key in a later statement, whose snapshot shows what the other has
 * committed. Endpoints are locked before deliveries, so that there are no deadlocks.
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
 * Makes the planner take an index in whose order it would have to sort otherwise, until the transaction ends. Where
 * statistics are old it takes any index of an endpoint's deliveries for as good as another, and would read all that waits
 * there for each event.
 */
export async function planInOrder(transaction: Database): Promise<void> {
  await withoutSort(transaction, {});
}

const withoutSort = statement(
  'webhooks.planInOrder',
  () => sql<object>`select set_config('enable_sort', 'off', true)`,
);

/**
 * SQL that queues deliveries: the first of a key is due, unless an earlier one is unfinished; those behind it are held
 * until it ends. The endpoints must be locked, and the events too where retention could remove them.
 *
 * Call planInOrder before. An earlier one is looked for in the order of the index delivery_head, by an array, since an
 * order by what is equal to a value is no order.
 * @param wanted a select of account_id, webhook_id, event_id, position, type, record and replay_id.
 * @returns a query of one row that tells how many were queued.
 */
export function queueDeliveries(wanted: RawBuilder<unknown>): RawBuilder<{ queued: number }> {
  return sql`
    with inserted as (
      insert into delivery
        (account_id, webhook_id, event_id, event_sequence, event_type, record, replay_id, state, next_attempt_at)
      select account_id, webhook_id, event_id, position, type, record, replay_id,
        case when is_head then 'pending' else 'held' end, case when is_head then now() end
      from (
        select wanted.*,
          row_number() over (partition by webhook_id, record order by position) = 1 and (
            select true from delivery as ahead
            where ahead.webhook_id = wanted.webhook_id and ahead.record = any (array[wanted.record])
              and ahead.state = 'pending' and ahead.next_attempt_at >= coalesce((
                select oldest_at from endpoint_due as known
                where known.webhook_id = wanted.webhook_id and known.account_id = wanted.account_id), '-infinity')
            order by ahead.record, ahead.next_attempt_at limit 1
          ) is null as is_head
        from (${wanted}) as wanted
      ) as placed
      order by position
      returning 1
    )
    select count(*) as queued from inserted`;
}

/**
 * Makes the heads of these keys due; the endpoints must be locked.
 * @param keys with the position of the delivery that has ended, the head until now; without one the head may be anywhere.
 */
export async function promoteHeads(transaction: Database, keys: (OrderingKey & Ended)[]): Promise<void> {
  await promote(transaction, {
    webhook_ids: keys.map(({ webhook_id }) => webhook_id),
    records: keys.map(({ record }) => record),
    after: keys.map(({ event_sequence }) => event_sequence ?? 0),
  });
}

interface Ended {
  event_sequence?: number;
}

/**
 * The first after the head that has ended, or what was queued again before it. Starting at the head avoids reading
 * all deliveries that have ended since the oldest open snapshot.
 */
const promote = statement(
  'webhooks.promoteHeads',
  (p: Param<{ webhook_ids: number[]; records: string[]; after: number[] }>) => sql<object>`
    update delivery set state = 'pending', next_attempt_at = now()
    where delivery_id = any (array(
      select head.delivery_id
      from unnest(${p('webhook_ids', 'bigint[]')}, ${p('records', 'text[]')}, ${p('after', 'bigint[]')})
        as key (webhook_id, record, after),
      lateral (
        (select delivery_id, state, event_sequence from delivery
          where delivery.webhook_id = key.webhook_id and delivery.record = key.record
            and delivery.state in ('held', 'pending') and event_sequence >= key.after
          order by event_sequence limit 1)
        union all
        (select delivery_id, state, event_sequence from delivery
          where delivery.webhook_id = key.webhook_id and delivery.record = key.record
            and delivery.state = 'held' and (replay_id is not null or attempts > 0)
          order by event_sequence limit 1)
        order by event_sequence limit 1
      ) as head
      where head.state = 'held'
    ))`,
);
