import { requireReach } from '../records/reach.ts';
import { build, statement } from '../db/statement.ts';
import { isCurrent } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { data, type Json } from '../db/json.ts';
import { notModified, ok } from '../http/reply.ts';
import { manageable, type Webhook, type WebhookKey, webhookJson, webhookKey, webhookTag } from './webhook.ts';

export async function getWebhook({
  database,
  params,
  caller,
  headers,
}: Call<'getWebhook'>): Promise<Reply<'getWebhook'>> {
  const [found] = await selectWebhook(database, webhookKey(params, caller));
  const row = requireReach(found, 'webhook');
  if (isCurrent(headers['if-none-match'], row.etag)) return notModified(row.etag);
  return ok(data(row.webhook), { ETag: row.etag });
}

const selectWebhook = statement<WebhookKey, { within_reach: boolean; etag: string; webhook: Json<Webhook> }>(
  (p) =>
    build
      .selectFrom('webhook')
      .select([manageable(p).as('within_reach'), webhookTag().as('etag'), webhookJson().as('webhook')])
      .where('webhook_id', '=', p('webhook_id', 'bigint')),
);
