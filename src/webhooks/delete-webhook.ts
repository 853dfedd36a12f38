import { sql } from 'kysely';
import { type Reach, reachOf, requireReach } from '../accounts/reach.ts';
import { build, statement } from '../db/statement.ts';
import { acceptedTags } from '../http/conditional.ts';
import { preconditionFailed } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { noContent } from '../http/reply.ts';
import { manageable, webhookTag } from './webhook.ts';

/** What is queued for the webhook, and its log, go with it. */
export async function deleteWebhook({
  database,
  params,
  caller,
  headers,
}: Call<'deleteWebhook'>): Promise<Reply<'deleteWebhook'>> {
  const key = { ...params, ...reachOf(caller) };
  const [deleted] = await deleteRow(database, { ...key, if_match: acceptedTags(headers['if-match']) });
  if (deleted) return noContent();
  const [row] = await selectReach(database, key);
  requireReach(row, 'webhook');
  throw preconditionFailed();
}

type Key = { webhook_id: number } & Reach;

const deleteRow = statement<Key & { if_match: string[] | null }, { webhook_id: number }>((p) =>
  build
    .deleteFrom('webhook')
    .where('webhook_id', '=', p('webhook_id', 'bigint'))
    .where(manageable(p))
    .where(
      sql<boolean>`(${p('if_match', 'text[]')} is null or ${webhookTag()} = any (${p('if_match', 'text[]')}))`,
    )
    .returning('webhook_id'),
);

const selectReach = statement<Key, { within_reach: boolean }>((p) =>
  build
    .selectFrom('webhook')
    .select(manageable(p).as('within_reach'))
    .where('webhook_id', '=', p('webhook_id', 'bigint')),
);
