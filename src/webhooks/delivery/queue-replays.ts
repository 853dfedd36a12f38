/**
 * Queues past events once more, batch by batch; the dispatcher then sends them like any others.
 *
 * A replay is a row with a position. A batch and its new position are one transaction, so a crash repeats nothing and
 * skips nothing. If two processes try the same batch, one of them finds that the position has moved and gives up.
 *
 * Order: the deliveries of an ordering key follow the positions of events, so a replayed one comes after the delivery
 * in progress and before those that are held. An event that is already held is not queued again. One that is in
 * progress is queued again; otherwise the older ones now queued after it would be the last that the receiver gets.
 */
import { sql } from 'kysely';
import { isStaying } from '../../db/cell.ts';
import type { Database } from '../../db/database.ts';
import { build, type Param, statement } from '../../db/statement.ts';
import { type Span, spanOf } from '../../events/feed.ts';
import { noteDue } from './due-endpoints.ts';
import { wants } from './filters.ts';
import { lockEndpoints, planInOrder, queueDeliveries } from './ordering.ts';

const batchSize = 1000;

/**
 * Queues one more batch of each replay.
 * @returns whether there may be more to queue.
 */
export async function queueReplays(database: Database): Promise<boolean> {
  const replays = await selectQueueing(database, {});
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

const selectQueueing = statement('webhooks.replays.queueing', () =>
  build
    .selectFrom('replay')
    .select(['replay_id', 'account_id', 'webhook_id', 'position'])
    .whereRef('position', '<', 'until')
    .where(isStaying('replay.account_id'))
    .orderBy('replay_id')
    .limit(20),
);

// Events, then endpoint, then replay: the order in which the relay and a delete of the webhook lock.
async function queueBatch(transaction: Database, replay: Progress): Promise<void> {
  const { event_ids, end } = await nextEvents(transaction, replay);
  await lockEndpoints(transaction, [replay.webhook_id]);
  const [advanced] = await advance(transaction, { ...replay, end });
  if (!advanced || event_ids.length === 0) return;
  const span = spanOf(event_ids.map((event_id) => ({ event_id })));
  await planInOrder(transaction);
  const [batch] = await queue(transaction, { ...replay, ...span, event_ids });
  await noteDue(transaction, [replay.webhook_id]);
  await countQueued(transaction, { ...replay, queued: batch?.queued ?? 0 });
}

/** Locks them, so that retention does not remove what is being queued. */
async function nextEvents(
  transaction: Database,
  replay: Progress,
): Promise<{ event_ids: string[]; end: string }> {
  const [bound] = await selectWindow(transaction, replay);
  if (!bound) return { event_ids: [], end: replay.position };
  const rows = await lockEvents(transaction, { ...replay, window_end: bound.window_end });
  const event_ids = rows.map(({ event_id }) => event_id);
  return { event_ids, end: (event_ids.length === batchSize && event_ids.at(-1)) || bound.window_end };
}

// One hour: so that an account with few events does not read through those of all others in one statement.
const selectWindow = statement('webhooks.replays.window', (p: Param<Progress>) =>
  build
    .selectFrom('replay')
    .select(
      sql<string>`least(until, event_id_at(uuid_extract_timestamp(position) + interval '1 hour'))`.as(
        'window_end',
      ),
    )
    .where('replay_id', '=', p('replay_id', 'bigint'))
    .where('account_id', '=', p('account_id', 'bigint')),
);

const lockEvents = statement('webhooks.replays.lockEvents', (p: Param<Progress & { window_end: string }>) =>
  build
    .selectFrom('event')
    .select('event_id')
    .where('event_id', '>', p('position', 'uuid'))
    .where('event_id', '<=', p('window_end', 'uuid'))
    .where('account_id', '=', p('account_id', 'bigint'))
    .where(
      sql<boolean>`exists (select from feed where feed.event_id = event.event_id
        and feed.event_id > ${p('position', 'uuid')} and feed.event_id <= ${p('window_end', 'uuid')})`,
    )
    .orderBy('event_id')
    .limit(batchSize)
    .forKeyShare(),
);

const advance = statement('webhooks.replays.advance', (p: Param<Progress & { end: string }>) =>
  build
    .updateTable('replay')
    .set({ position: p('end', 'uuid') })
    .where('replay_id', '=', p('replay_id', 'bigint'))
    .where('account_id', '=', p('account_id', 'bigint'))
    .where('position', '=', p('position', 'uuid'))
    .returning('replay_id'),
);

const countQueued = statement('webhooks.replays.countQueued', (p: Param<Progress & { queued: number }>) =>
  build
    .updateTable('replay')
    .set({ queued: sql`queued + ${p('queued', 'bigint')}` })
    .where('replay_id', '=', p('replay_id', 'bigint'))
    .where('account_id', '=', p('account_id', 'bigint')),
);

const queue = statement('webhooks.replays.queue', (p: Param<Progress & Span & { event_ids: string[] }>) =>
  queueDeliveries(sql`
    select feed.account_id, webhook.webhook_id, feed.event_id, feed.position, feed.type, feed.record,
      ${p('replay_id', 'bigint')} as replay_id
    from feed
    join webhook on webhook.account_id = feed.account_id and webhook.webhook_id = ${p('webhook_id', 'bigint')}
    where feed.event_id = any (${p('event_ids', 'uuid[]')})
      and feed.event_id between ${p('first_id', 'uuid')} and ${p('last_id', 'uuid')} and feed.account_id = ${p('account_id', 'bigint')}
      and ${wants()}
      and not exists (
        select from delivery
        where delivery.webhook_id = webhook.webhook_id and delivery.record = feed.record
          and delivery.event_sequence = feed.position and delivery.state = 'held')`),
);
