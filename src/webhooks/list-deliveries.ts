import { type RawBuilder, sql } from 'kysely';
import { ofTypes } from '../events/event.ts';
import type { Call, Reply } from '../http/handler.ts';
import { page, pageRequest } from '../http/pagination.ts';
import { ok } from '../http/reply.ts';
import { deliveryJson } from './delivery-log.ts';
import { requireWebhook, webhookKey } from './webhook.ts';

/** Latest first: whoever looks into the log wants to know what just happened. */
export async function listDeliveries(call: Call<'listDeliveries'>): Promise<Reply<'listDeliveries'>> {
  const { database, params, query, caller, url } = call;
  const wanted = pageRequest(query);
  const { webhook_id, account_id } = await requireWebhook(database, webhookKey(params, caller));
  const rows = await database
    .selectFrom('delivery')
    .select(['delivery_id as id', deliveryJson().as('resource')])
    .where('webhook_id', '=', webhook_id)
    .where('account_id', '=', account_id)
    .$if(wanted.after > 0, (rows) => rows.where('delivery_id', '<', wanted.after))
    .where((eb) => eb.and(conditions(query)))
    .orderBy('delivery_id', 'desc')
    .limit(wanted.limit)
    .execute();
  const { body, headers } = page(rows, wanted, url);
  return ok(body, headers);
}

function conditions({
  state,
  type,
  record,
  since,
  until,
}: Call<'listDeliveries'>['query']): RawBuilder<boolean>[] {
  return [
    ...(state ? [sql<boolean>`state = ${state}`] : []),
    ...(type ? [ofTypes(sql.ref('event_type'), type)] : []),
    ...(record ? [sql<boolean>`record = ${record}`] : []),
    ...(since ? [sql<boolean>`created_at >= ${since}::timestamptz`] : []),
    ...(until ? [sql<boolean>`created_at < ${until}::timestamptz`] : []),
  ];
}
