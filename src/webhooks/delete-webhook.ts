import { sql } from 'kysely';
import { build, statement } from '../db/statement.ts';
import { acceptedTags } from '../http/conditional.ts';
import { preconditionFailed } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { noContent } from '../http/reply.ts';
import { manageable, requireWebhook, type WebhookKey, webhookKey, webhookTag } from './webhook.ts';

/** What is queued for the webhook, and its log, go with it. */
export async function deleteWebhook({
  database,
  params,
  caller,
  headers,
}: Call<'deleteWebhook'>): Promise<Reply<'deleteWebhook'>> {
  const key = webhookKey(params, caller);
  const [deleted] = await deleteRow(database, { ...key, if_match: acceptedTags(headers['if-match']) });
  if (deleted) return noContent();
  await requireWebhook(database, key);
  throw preconditionFailed();
}

const deleteRow = statement<WebhookKey & { if_match: string[] | null }, { webhook_id: number }>((p) =>
  build
    .deleteFrom('webhook')
    .where('webhook_id', '=', p('webhook_id', 'bigint'))
    .where(manageable(p))
    .where(
      sql<boolean>`(${p('if_match', 'text[]')} is null or ${webhookTag()} = any (${p('if_match', 'text[]')}))`,
    )
    .returning('webhook_id'),
);
