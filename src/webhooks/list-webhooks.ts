import { type Reach, reachOf } from '../records/reach.ts';
import { build, statement } from '../db/statement.ts';
import type { Call, Reply } from '../http/handler.ts';
import { type ListRow, type PageRequest, page, pageRequest } from '../http/pagination.ts';
import { ok } from '../http/reply.ts';
import { manageable, type Webhook, webhookJson } from './webhook.ts';

export async function listWebhooks({
  database,
  query,
  caller,
  url,
}: Call<'listWebhooks'>): Promise<Reply<'listWebhooks'>> {
  const wanted = pageRequest(query);
  const rows = await selectWebhooks(database, { ...wanted, ...reachOf(caller) });
  const { body, headers } = page(rows, wanted, url);
  return ok(body, headers);
}

const selectWebhooks = statement<PageRequest & Reach, ListRow<Webhook>>((p) =>
  build
    .selectFrom('webhook')
    .select(['webhook_id as id', webhookJson().as('resource')])
    .where(manageable(p))
    .where('webhook_id', '>', p('after', 'bigint'))
    .orderBy('webhook_id')
    .limit(p('limit', 'bigint')),
);
