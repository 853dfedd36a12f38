import { sql } from 'kysely';
import { data, type Json } from '../db/json.ts';
import { type Param, statement } from '../db/statement.ts';
import { notFound } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import {
  type DeliveryDetail,
  type DeliveryKey,
  deliveries,
  deliveryDetailJson,
  isDelivery,
} from './delivery-log.ts';
import { requireWebhook, webhookKey } from './webhook.ts';

/** One delivery with its attempts, whether it is queued or has ended. @throws 404 or 403 */
export async function getDelivery({
  database,
  params,
  caller,
}: Call<'getDelivery'>): Promise<Reply<'getDelivery'>> {
  const { webhook_id, account_id } = await requireWebhook(database, webhookKey(params, caller));
  const { delivery_id } = params;
  const [row] = await selectDelivery(database, { delivery_id, webhook_id, account_id });
  if (!row) throw notFound('There is no such delivery to this webhook.');
  return ok(data(row.resource));
}

const selectDelivery = statement(
  'webhooks.getDelivery',
  (p: Param<DeliveryKey>) => sql<{ resource: Json<DeliveryDetail> }>`
    select ${deliveryDetailJson()} as resource from (${deliveries(() => isDelivery(p))}) as delivery`,
);
