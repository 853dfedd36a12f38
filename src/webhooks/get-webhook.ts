import { data } from '../db/json.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { isCurrent } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { notModified, ok } from '../http/reply.ts';
import { requireReach } from '../records/reach.ts';
import { manageable, type WebhookKey, webhookETag, webhookJson, webhookKey } from './webhook.ts';

/** One webhook, or 304 if the client has it. @throws 404 or 403 */
export async function getWebhook({
  database,
  params,
  caller,
  headers,
}: Call<'getWebhook'>): Promise<Reply<'getWebhook'>> {
  const [found] = await selectWebhook(database, webhookKey(params, caller));
  const row = requireReach(found, 'webhook');
  if (isCurrent(headers['if-none-match'], row.etag)) return notModified(row.etag);
  return ok(data(row.resource), { ETag: row.etag });
}

const selectWebhook = statement('webhooks.getWebhook', (p: Param<WebhookKey>) =>
  build
    .selectFrom('webhook')
    .select([manageable(p).as('within_reach'), webhookETag().as('etag'), webhookJson().as('resource')])
    .where('webhook_id', '=', p('webhook_id', 'bigint')),
);
