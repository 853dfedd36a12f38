import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import { columns, type Json, jsonObject, rfc3339 } from '../db/json.ts';
import type { Param } from '../db/statement.ts';
import { attemptsAt, type FailedReason } from './delivery/log.ts';

export type Delivery = components['schemas']['Delivery'];
export type DeliveryDetail = components['schemas']['DeliveryDetail'];
type Attempt = components['schemas']['Attempt'];

/**
 * SQL that selects deliveries wherever they are, in the queue or in the log, to be used as `delivery`. `logged` is null
 * for those whose attempts are in `attempt`.
 * @param where what either must satisfy, with an order and a limit if need be.
 */
export function deliveries(where: (table: 'delivery' | 'delivery_log') => RawBuilder<unknown>) {
  const shared = sql`delivery_id, account_id, webhook_id, replay_id, event_id, event_type, record, state, created_at`;
  return sql`
    (select ${shared}, attempts as attempt_count, next_attempt_at, null::text as failed_reason, null::json as logged
      from delivery where ${where('delivery')})
    union all
    (select ${shared}, attempt_count, null, failed_reason, attempts from delivery_log where ${where('delivery_log')})`;
}

export interface DeliveryKey {
  delivery_id: number;
  webhook_id: number;
  account_id: number;
}

/** The condition that a row of `delivery` or `delivery_log` is the one with this key. */
export function isDelivery(p: Param<DeliveryKey>): RawBuilder<boolean> {
  return sql`(delivery_id = ${p('delivery_id', 'bigint')}
    and webhook_id = ${p('webhook_id', 'bigint')} and account_id = ${p('account_id', 'bigint')})`;
}

/** A row of these as lists show it: with its last attempt. */
export function deliveryJson(): RawBuilder<Json<Delivery>> {
  return jsonObject<Delivery>({
    ...deliveryFields(),
    last_attempt: sql<
      Json<Attempt | null>
    >`coalesce(delivery.logged -> 0, (${attemptsAt('delivery', 1)})[1])`,
  });
}

/** The same with all its attempts, the latest first. */
export function deliveryDetailJson(): RawBuilder<Json<DeliveryDetail>> {
  return jsonObject<DeliveryDetail>({
    ...deliveryFields(),
    attempts: sql<Json<Attempt[]>>`coalesce(delivery.logged, array_to_json(${attemptsAt('delivery')}))`,
  });
}

function deliveryFields() {
  const delivery = columns('delivery');
  return {
    delivery_id: delivery.delivery_id,
    webhook_id: delivery.webhook_id,
    replay_id: delivery.replay_id,
    event_id: sql<string>`event_id_text(${delivery.event_id})`,
    event_type: sql<Delivery['event_type']>`${delivery.event_type}`,
    record: delivery.record,
    state: sql<Delivery['state']>`${delivery.state}`,
    failed_reason: sql<FailedReason | null>`delivery.failed_reason`,
    attempt_count: sql<number>`delivery.attempt_count`,
    next_attempt_at: rfc3339(delivery.next_attempt_at),
    queued_at: rfc3339(delivery.created_at),
  };
}
