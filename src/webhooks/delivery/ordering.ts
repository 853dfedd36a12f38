import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { DB } from '../../../generated/database.ts';

/*
 * A lane is the queue of one record's deliveries to one endpoint. Only its head is `pending`; the rest is `held`, so
 * that claiming never wades through a backlog, and a failing event holds back its own record only.
 *
 * Invariant: a lane with an unfinished delivery has a pending one. Who adds to a lane (the relay, a replay) and who
 * ends a head decide by what they see of each other. So both lock the endpoint's row, in the order of ids, hold it
 * until they commit, and look at the lane in a later statement, whose snapshot shows what the other committed.
 * Endpoints are locked before deliveries, so that nobody waits in a circle.
 */

/** Excludes other changers of these endpoints' lanes until the transaction ends. */
export async function lockEndpoints(transaction: Transaction<DB>, webhookIds: number[]): Promise<void> {
  await transaction
    .selectFrom('webhook')
    .select('webhook_id')
    .where(sql<boolean>`webhook_id = any (${webhookIds}::bigint[])`)
    .orderBy('webhook_id')
    .forNoKeyUpdate()
    .execute();
}

/**
 * Queues deliveries: the first of a record at an endpoint is due, unless an earlier one is unfinished; those behind
 * it are held until it ends. The endpoints must be locked, and the events too where retention could remove them.
 * @param wanted a select of account_id, webhook_id, event_id, sequence, type, record and replay_id.
 * @returns how many were queued.
 */
export async function addToLanes(transaction: Transaction<DB>, wanted: RawBuilder<unknown>): Promise<number> {
  const { numAffectedRows } = await sql`
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
    order by sequence`.execute(transaction);
  return Number(numAffectedRows);
}

/** Makes the heads of these lanes due; the endpoints must be locked. */
export async function promoteHeads(
  transaction: Transaction<DB>,
  lanes: { webhook_id: number; record: string }[],
): Promise<void> {
  await sql`
    update delivery set state = 'pending', next_attempt_at = now()
    where state = 'held' and (delivery_id, account_id) in (
      select head.delivery_id, head.account_id
      from unnest(${lanes.map((lane) => lane.webhook_id)}::bigint[], ${lanes.map((lane) => lane.record)}::text[])
        as lane (webhook_id, record),
      lateral (
        select delivery_id, account_id from delivery
        where delivery.webhook_id = lane.webhook_id and delivery.record = lane.record
          and delivery.state in ('held', 'pending')
        order by event_sequence limit 1
      ) as head
    )`.execute(transaction);
}
