import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import { columns, type Json, jsonObject, rfc3339 } from '../db/json.ts';

export type Delivery = components['schemas']['Delivery'];
export type DeliveryDetail = components['schemas']['DeliveryDetail'];
type Attempt = components['schemas']['Attempt'];

/** A row of `delivery` as lists show it: with its last attempt. */
export function deliveryJson(): RawBuilder<Json<Delivery>> {
  return jsonObject<Delivery>({
    ...deliveryFields(),
    last_attempt: sql<Json<Attempt | null>>`(select ${attemptJson()} ${ofThisDelivery} limit 1)`,
  });
}

/** The same with all its attempts, the latest first. */
export function deliveryDetailJson(): RawBuilder<Json<DeliveryDetail>> {
  return jsonObject<DeliveryDetail>({
    ...deliveryFields(),
    attempts: sql<Json<Attempt[]>>`array_to_json(array(select ${attemptJson()} ${ofThisDelivery} limit 100))`,
  });
}

const ofThisDelivery = sql`from attempt
  where attempt.delivery_id = delivery.delivery_id and attempt.account_id = delivery.account_id
  order by attempt.number desc`;

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
    attempt_count: delivery.attempts,
    next_attempt_at: rfc3339(delivery.next_attempt_at),
    queued_at: rfc3339(delivery.created_at),
  };
}

function attemptJson(): RawBuilder<Json<Attempt>> {
  const attempt = columns('attempt');
  return jsonObject<Attempt>({
    number: attempt.number,
    started_at: rfc3339(attempt.started_at),
    duration_ms: attempt.duration_ms,
    status: attempt.status,
    error: attempt.error,
    response_excerpt: attempt.response_excerpt,
  });
}
