import { build, type Param, statement } from '../db/statement.ts';
import type { Call, Reply } from '../http/handler.ts';
import { type PageRequest, page, pageRequest } from '../http/pagination.ts';
import { ok } from '../http/reply.ts';
import { type Reach, reachOf } from '../records/reach.ts';
import { manageable, webhookJson } from './webhook.ts';

/** A page of the webhooks that the caller may manage, by id. */
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

const selectWebhooks = statement('webhooks.listWebhooks', (p: Param<PageRequest & Reach>) =>
  build
    .selectFrom('webhook')
    .select(['webhook_id as id', webhookJson().as('resource')])
    .where(manageable(p))
    .where('webhook_id', '>', p('after', 'bigint'))
    .orderBy('webhook_id')
    .limit(p('limit', 'bigint')),
);
