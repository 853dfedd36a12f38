import { sql } from 'kysely';
import { type Database, inTransaction } from '../db/database.ts';
import { data } from '../db/json.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { type ApiError, conflict, notFound } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { accepted } from '../http/reply.ts';
import { lockEndpoints, type OrderingKey, promoteHeads } from './delivery/ordering.ts';
import { deliveryJson } from './delivery-log.ts';
import { requireWebhook, webhookKey } from './webhook.ts';

/** Queues the delivery again in its place among those of its record, and makes the head of these due. */
export async function retryDelivery({
  database,
  params,
  caller,
}: Call<'retryDelivery'>): Promise<Reply<'retryDelivery'>> {
  const { webhook_id, account_id } = await requireWebhook(database, webhookKey(params, caller));
  const key = { delivery_id: params.delivery_id, webhook_id, account_id };
  const row = await inTransaction(database, async (transaction) => {
    const orderingKey = { webhook_id, record: await lockEventOf(transaction, key) };
    await lockEndpoints(transaction, [webhook_id]);
    await hold(transaction, { ...key, ...orderingKey });
    const underWay = await selectPending(transaction, orderingKey);
    if (underWay.length === 0) await promoteHeads(transaction, [orderingKey]);
    const [delivery] = await selectDelivery(transaction, key);
    return delivery;
  });
  if (!row) throw noDelivery();
  return accepted(data(row.resource));
}

interface Key {
  delivery_id: number;
  webhook_id: number;
  account_id: number;
}

/**
 * Locks the event, so that retention does not take what is about to be sent.
 * @returns the record that the event is of.
 */
async function lockEventOf(transaction: Database, key: Key): Promise<string> {
  const [delivery] = await selectEventId(transaction, key);
  if (!delivery) throw noDelivery();
  const [event] = await lockEvent(transaction, { ...key, event_id: delivery.event_id });
  if (!event) throw conflict('The event of this delivery is no longer kept.');
  return event.record;
}

function noDelivery(): ApiError {
  return notFound('There is no such delivery to this webhook.');
}

const selectEventId = statement('webhooks.retryDelivery.event', (p: Param<Key>) =>
  build.selectFrom('delivery').select('event_id').where(isDelivery(p)),
);

const lockEvent = statement(
  'webhooks.retryDelivery.lockEvent',
  (p: Param<{ event_id: string; account_id: number }>) =>
    build
      .selectFrom('event')
      .select('record')
      .where('event_id', '=', p('event_id', 'uuid'))
      .where('account_id', '=', p('account_id', 'bigint'))
      .forKeyShare(),
);

/** Holds it, and with it what waits before it for a later attempt; one under way is left alone. */
const hold = statement('webhooks.retryDelivery.hold', (p: Param<Key & OrderingKey>) =>
  build
    .updateTable('delivery')
    .set({ state: 'held', next_attempt_at: null, leased_until: null })
    .where('webhook_id', '=', p('webhook_id', 'bigint'))
    .where('account_id', '=', p('account_id', 'bigint'))
    .where('record', '=', p('record', 'text'))
    .where(sql<boolean>`(state = 'pending' or delivery_id = ${p('delivery_id', 'bigint')})`)
    .where(sql<boolean>`coalesce(leased_until <= now(), true)`),
);

const selectPending = statement('webhooks.retryDelivery.pending', (p: Param<OrderingKey>) =>
  build
    .selectFrom('delivery')
    .select('delivery_id')
    .where('webhook_id', '=', p('webhook_id', 'bigint'))
    .where('record', '=', p('record', 'text'))
    .where('state', '=', 'pending'),
);

const selectDelivery = statement('webhooks.retryDelivery', (p: Param<Key>) =>
  build.selectFrom('delivery').select(deliveryJson().as('resource')).where(isDelivery(p)),
);

function isDelivery(p: Param<Key>) {
  return sql<boolean>`(delivery_id = ${p('delivery_id', 'bigint')}
    and webhook_id = ${p('webhook_id', 'bigint')} and account_id = ${p('account_id', 'bigint')})`;
}
