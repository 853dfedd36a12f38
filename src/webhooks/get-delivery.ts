import { build, statement } from '../db/statement.ts';
import { notFound } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { data, type Json } from '../db/json.ts';
import { ok } from '../http/reply.ts';
import { type DeliveryDetail, deliveryDetailJson } from './delivery-log.ts';
import { requireWebhook, webhookKey } from './webhook.ts';

export async function getDelivery({
  database,
  params,
  caller,
}: Call<'getDelivery'>): Promise<Reply<'getDelivery'>> {
  const { webhook_id, account_id } = await requireWebhook(database, webhookKey(params, caller));
  const { delivery_id } = params;
  const [row] = await selectDelivery(database, { delivery_id, webhook_id, account_id });
  if (!row) throw notFound('There is no such delivery to this webhook.');
  return ok(data(row.delivery));
}

const selectDelivery = statement<
  { delivery_id: number; webhook_id: number; account_id: number },
  { delivery: Json<DeliveryDetail> }
>((p) =>
  build
    .selectFrom('delivery')
    .select(deliveryDetailJson().as('delivery'))
    .where('delivery_id', '=', p('delivery_id', 'bigint'))
    .where('account_id', '=', p('account_id', 'bigint'))
    .where('webhook_id', '=', p('webhook_id', 'bigint')),
);
