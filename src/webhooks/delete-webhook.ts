import { build, type Param, statement } from '../db/statement.ts';
import { acceptedETags, eTagMatches, type IfMatch, requireWritten } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { noContent } from '../http/reply.ts';
import { manageable, requireWebhook, type WebhookKey, webhookETag, webhookKey } from './webhook.ts';

/** The webhook's queued deliveries and its log are deleted with it. */
export async function deleteWebhook({
  database,
  params,
  caller,
  headers,
}: Call<'deleteWebhook'>): Promise<Reply<'deleteWebhook'>> {
  const key = webhookKey(params, caller);
  const deleted = await deleteOne(database, { ...key, if_match: acceptedETags(headers['if-match']) });
  await requireWritten(deleted, () => requireWebhook(database, key));
  return noContent();
}

const deleteOne = statement('webhooks.deleteWebhook', (p: Param<WebhookKey & IfMatch>) =>
  build
    .deleteFrom('webhook')
    .where('webhook_id', '=', p('webhook_id', 'bigint'))
    .where(manageable(p))
    .where(eTagMatches(p, webhookETag()))
    .returning('webhook_id'),
);
