import { sql } from 'kysely';
import { type Database, inTransaction } from '../db/database.ts';
import { data, type Json } from '../db/json.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { type ApiError, conflict, notFound } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { accepted } from '../http/reply.ts';
import { noteDue } from './delivery/due-endpoints.ts';
import { lockEndpoints, type OrderingKey, promoteHeads } from './delivery/ordering.ts';
import { type Delivery, type DeliveryKey, deliveries, deliveryJson, isDelivery } from './delivery-log.ts';
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
    await requeue(transaction, key);
    await hold(transaction, { ...key, ...orderingKey });
    const underWay = await selectPending(transaction, orderingKey);
    if (underWay.length === 0) await promoteHeads(transaction, [orderingKey]);
    await noteDue(transaction, [webhook_id]);
    const [delivery] = await selectDelivery(transaction, key);
    return delivery;
  });
  if (!row) throw noDelivery();
  return accepted(data(row.resource));
}

/**
 * Locks the event, so that retention does not remove what is about to be sent.
 * @returns the record that the event belongs to.
 */
async function lockEventOf(transaction: Database, key: DeliveryKey): Promise<string> {
  const [delivery] = await selectEventId(transaction, key);
  if (!delivery) throw noDelivery();
  const [event] = await lockEvent(transaction, { ...key, event_id: delivery.event_id });
  if (!event) throw conflict('The event of this delivery is no longer kept.');
  return event.record;
}

function noDelivery(): ApiError {
  return notFound('There is no such delivery to this webhook.');
}

const selectEventId = statement(
  'webhooks.retryDelivery.event',
  (p: Param<DeliveryKey>) => sql<{ event_id: string }>`
    select event_id from delivery where ${isDelivery(p)}
    union all
    select event_id from delivery_log where ${isDelivery(p)}`,
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

/** Puts it back into the queue from the log, with its attempts; does nothing when it is there. */
const requeue = statement(
  'webhooks.retryDelivery.requeue',
  (p: Param<DeliveryKey>) => sql<object>`
    with ended as (
      delete from delivery_log where ${isDelivery(p)}
      returning delivery_id, account_id, webhook_id, event_id, event_sequence, event_type, record, attempt_count,
        spared, attempts, replay_id, created_at
    ),
    queued as (
      insert into delivery (delivery_id, account_id, webhook_id, event_id, event_sequence, event_type, record, state,
        attempts, spared, replay_id, created_at)
      overriding system value
      select delivery_id, account_id, webhook_id, event_id, event_sequence, event_type, record, 'held',
        attempt_count, spared, replay_id, created_at
      from ended
    )
    insert into attempt (delivery_id, account_id, number, started_at, duration_ms, status, error, response_excerpt)
    select delivery_id, account_id, number, started_at, duration_ms, status, error, response_excerpt
    from ended, json_to_recordset(attempts) as attempt (number smallint, started_at timestamptz, duration_ms integer,
      status smallint, error text, response_excerpt text)`,
);

/** Holds it, and with it what waits before it for a later attempt; one under way is left alone. */
const hold = statement('webhooks.retryDelivery.hold', (p: Param<DeliveryKey & OrderingKey>) =>
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

const selectDelivery = statement(
  'webhooks.retryDelivery',
  (p: Param<DeliveryKey>) => sql<{ resource: Json<Delivery> }>`
    select ${deliveryJson()} as resource from (${deliveries(() => isDelivery(p))}) as delivery`,
);
