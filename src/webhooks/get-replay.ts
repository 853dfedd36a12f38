import { data } from '../db/json.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { notFound } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import { replayJson } from './replay.ts';
import { requireWebhook, webhookKey } from './webhook.ts';

/** The progress of a replay. @throws 404 or 403 */
export async function getReplay({
  database,
  params,
  caller,
}: Call<'getReplay'>): Promise<Reply<'getReplay'>> {
  const { webhook_id, account_id } = await requireWebhook(database, webhookKey(params, caller));
  const [row] = await selectReplay(database, { replay_id: params.replay_id, webhook_id, account_id });
  if (!row) throw notFound('There is no such replay of this webhook.');
  return ok(data(row.resource));
}

type Key = { replay_id: number; webhook_id: number; account_id: number };

const selectReplay = statement('webhooks.getReplay', (p: Param<Key>) =>
  build
    .selectFrom('replay')
    .select(replayJson().as('resource'))
    .where('replay_id', '=', p('replay_id', 'bigint'))
    .where('account_id', '=', p('account_id', 'bigint'))
    .where('webhook_id', '=', p('webhook_id', 'bigint')),
);
