import { sql, type Transaction } from 'kysely';
import type { DB } from '../../../generated/database.ts';

/*
 * A lane is the queue of one record's deliveries to one endpoint. Only its head is `pending`; the rest is `held`, so
 * that claiming never wades through a backlog, and a failing event holds back its own record only.
 *
 * Invariant: a lane with an unfinished delivery has a pending one. The relay adds to lanes and the queue ends heads,
 * each deciding by what it sees of the other; so both first lock the endpoint's row, in the order of ids, and look
 * at the lane in a later statement, whose snapshot shows what the other committed.
 */

/** Excludes the other changer of these endpoints' lanes until the transaction ends. */
export async function lockEndpoints(transaction: Transaction<DB>, webhookIds: number[]): Promise<void> {
  await transaction
    .selectFrom('webhook')
    .select('webhook_id')
    .where(sql<boolean>`webhook_id = any (${webhookIds}::bigint[])`)
    .orderBy('webhook_id')
    .forNoKeyUpdate()
    .execute();
}

/** Makes the heads of these lanes due; the endpoints must be locked. */
export async function promoteHeads(
  transaction: Transaction<DB>,
  lanes: { webhook_id: number; record: string }[],
): Promise<void> {
  await sql`
    update delivery set state = 'pending', next_attempt_at = now()
    where state = 'held' and delivery_id in (
      select head.delivery_id
      from unnest(${lanes.map((lane) => lane.webhook_id)}::bigint[], ${lanes.map((lane) => lane.record)}::text[])
        as lane (webhook_id, record),
      lateral (
        select delivery_id from delivery
        where delivery.webhook_id = lane.webhook_id and delivery.record = lane.record
          and delivery.state in ('held', 'pending')
        order by event_sequence limit 1
      ) as head
    )`.execute(transaction);
}
