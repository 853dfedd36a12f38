import { data } from '../db/json.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { notFound } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import { deliveryDetailJson } from './delivery-log.ts';
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
  return ok(data(row.resource));
}

type Key = { delivery_id: number; webhook_id: number; account_id: number };

const selectDelivery = statement('webhooks.getDelivery', (p: Param<Key>) =>
  build
    .selectFrom('delivery')
    .select(deliveryDetailJson().as('resource'))
    .where('delivery_id', '=', p('delivery_id', 'bigint'))
    .where('account_id', '=', p('account_id', 'bigint'))
    .where('webhook_id', '=', p('webhook_id', 'bigint')),
);
