import { sql } from 'kysely';
import { inTransaction } from '../db/database.ts';
import { data } from '../db/json.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { parseEventId } from '../events/event.ts';
import { conflict, parameterError } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { accepted } from '../http/reply.ts';
import { type Reach, withinReach } from '../records/reach.ts';
import { lockEndpoints } from './delivery/ordering.ts';
import { replayJson } from './replay.ts';
import { type ManagedWebhook, requireWebhook, webhookKey } from './webhook.ts';

/** Records what is to be sent again; the worker queues it. */
export async function replayWebhook(call: Call<'replayWebhook'>): Promise<Reply<'replayWebhook'>> {
  const { database, params, caller } = call;
  const webhook = await requireWebhook(database, webhookKey(params, caller));
  const start = await startOf(call, webhook);
  const row = await inTransaction(database, async (transaction) => {
    await lockEndpoints(transaction, [webhook.webhook_id]);
    await removeOld(transaction, webhook);
    const [inserted] = await insert(transaction, { ...start, ...webhook });
    return inserted;
  });
  if (!row) throw conflict('A replay of this endpoint is still being queued. Retry when it is done.');
  const location = `/api/v1/webhooks/${webhook.webhook_id}/replays/${row.replay_id}`;
  return accepted(data(row.resource), { Location: location });
}

interface Start {
  since: string | null;
  after_event_id: string | null;
}

async function startOf(
  { database, body }: Call<'replayWebhook'>,
  { account_id, granted_location_ids }: ManagedWebhook,
): Promise<Start> {
  if (body.since !== undefined) {
    if (Date.parse(body.since) > Date.now())
      throw parameterError([{ field: '/since', code: 'future', message: 'is in the future' }]);
    return { since: body.since, after_event_id: null };
  }
  const after_event_id = parseEventId(body.after_event_id ?? '');
  const [known] =
    after_event_id === undefined
      ? []
      : await selectEvent(database, { after_event_id, account_id, location_ids: granted_location_ids });
  if (!known || after_event_id === undefined) {
    const message = 'does not exist or is no longer kept';
    throw parameterError([{ field: '/after_event_id', code: 'not_found', message }]);
  }
  return { since: null, after_event_id };
}

const selectEvent = statement(
  'webhooks.replayWebhook.event',
  (p: Param<{ after_event_id: string } & Reach>) =>
    build
      .selectFrom('event')
      .select('event_id')
      .where('event_id', '=', p('after_event_id', 'uuid'))
      .where(withinReach(p, 'event')),
);

type Key = Pick<ManagedWebhook, 'webhook_id' | 'account_id'>;

const removeOld = statement('webhooks.replayWebhook.removeOld', (p: Param<Key>) =>
  build
    .deleteFrom('replay')
    .where('webhook_id', '=', p('webhook_id', 'bigint'))
    .where('account_id', '=', p('account_id', 'bigint'))
    .where('created_at', '<', sql<Date>`now() - interval '30 days'`),
);

/** Inserts nothing while another replay is being queued. What comes before the oldest event need not be searched. */
const insert = statement('webhooks.replayWebhook', (p: Param<Key & Start>) =>
  build
    .with('replay', (db) =>
      db
        .insertInto('replay')
        .columns(['account_id', 'webhook_id', 'position', 'until'])
        .expression(
          build
            .selectNoFrom([
              p('account_id', 'bigint').as('account_id'),
              p('webhook_id', 'bigint').as('webhook_id'),
              sql<string>`coalesce(${p('after_event_id', 'uuid')}, greatest(
                event_id_at(${p('since', 'timestamptz')}),
                event_id_at((select uuid_extract_timestamp(event_id) from event order by event_id limit 1))))`.as(
                'position',
              ),
              sql<string>`event_id_at(clock_timestamp() + interval '1 millisecond')`.as('until'),
            ])
            .where(
              sql<boolean>`not exists (select from replay
                where webhook_id = ${p('webhook_id', 'bigint')} and position < until)`,
            ),
        )
        .returningAll(),
    )
    .selectFrom('replay')
    .select(['replay_id', replayJson().as('resource')]),
);
