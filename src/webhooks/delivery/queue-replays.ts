import { sql, type Transaction } from 'kysely';
import type { DB } from '../../../generated/database.ts';
import type { Database } from '../../db/database.ts';
import { wants } from './filters.ts';
import { addToLanes, lockEndpoints } from './ordering.ts';

/*
 * Queues past events once more, batch by batch; the dispatcher then sends them like any others.
 *
 * A replay is a row with a position. A batch and its new position are one transaction, so a crash repeats nothing
 * and skips nothing, and of two processes at the same batch one finds the position moved and gives up.
 *
 * Order: the lane of a record goes by the sequence of events, so a replayed one waits behind what is under way and
 * before what is held. An event that is held anyway is not queued again; one that is under way is, or the older ones
 * now queued behind it would be the receiver's last word.
 */

const batchSize = 1000;
// So that an account with few events does not read through those of all others in one statement.
const window = sql`interval '1 hour'`;

/**
 * Goes one batch further with each replay.
 * @returns whether there may be more to queue.
 */
export async function queueReplays(database: Database): Promise<boolean> {
  const replays = await database
    .selectFrom('replay')
    .select(['replay_id', 'account_id', 'webhook_id', 'position'])
    .whereRef('position', '<', 'until')
    .orderBy('replay_id')
    .limit(20)
    .execute();
  for (const replay of replays) {
    await database.transaction().execute((transaction) => queueBatch(transaction, replay));
  }
  return replays.length > 0;
}

interface Progress {
  replay_id: number;
  account_id: number;
  webhook_id: number;
  position: string;
}

// Events, then endpoint, then replay: the order in which the relay and a delete of the webhook lock.
async function queueBatch(transaction: Transaction<DB>, replay: Progress): Promise<void> {
  const { events, end } = await nextEvents(transaction, replay);
  await lockEndpoints(transaction, [replay.webhook_id]);
  const { numUpdatedRows } = await transaction
    .updateTable('replay')
    .set({ position: end })
    .where('replay_id', '=', replay.replay_id)
    .where('position', '=', replay.position)
    .executeTakeFirst();
  if (numUpdatedRows === 0n || events.length === 0) return;
  const queued = await addToLanes(transaction, wanted(replay, events));
  await transaction
    .updateTable('replay')
    .set({ queued: sql`queued + ${queued}` })
    .where('replay_id', '=', replay.replay_id)
    .execute();
}

/** Locks them, so that retention does not take what is being queued. */
async function nextEvents(
  transaction: Transaction<DB>,
  { replay_id, account_id, position }: Progress,
): Promise<{ events: string[]; end: string }> {
  const [bound] = await transaction
    .selectFrom('replay')
    .select(
      sql<string>`least(until, event_id_at(uuid_extract_timestamp(position) + ${window}))`.as('window_end'),
    )
    .where('replay_id', '=', replay_id)
    .execute();
  if (!bound) return { events: [], end: position };
  const rows = await transaction
    .selectFrom('event')
    .select('event_id')
    .where('event_id', '>', position)
    .where('event_id', '<=', bound.window_end)
    .where('account_id', '=', account_id)
    .where('relayed', '=', true)
    .orderBy('event_id')
    .limit(batchSize)
    .forKeyShare()
    .execute();
  const events = rows.map((row) => row.event_id);
  return { events, end: (events.length === batchSize && events.at(-1)) || bound.window_end };
}

function wanted({ replay_id, account_id, webhook_id }: Progress, events: string[]) {
  return sql`
    select event.account_id, webhook.webhook_id, event.event_id, event.sequence, event.type, event.record,
      ${replay_id}::bigint as replay_id
    from event join webhook on webhook.account_id = event.account_id and webhook.webhook_id = ${webhook_id}
    where event.event_id = any (${events}::uuid[]) and event.account_id = ${account_id} and ${wants()}
      and not exists (
        select from delivery
        where delivery.webhook_id = webhook.webhook_id and delivery.record = event.record
          and delivery.event_sequence = event.sequence and delivery.state = 'held')`;
}
