import { type RawBuilder, sql } from 'kysely';
import { build, filteredStatement, type Param } from '../db/statement.ts';
import { ofTypes } from '../events/event.ts';
import type { Call, Reply } from '../http/handler.ts';
import { type ListRow, page, pageRequest } from '../http/pagination.ts';
import { ok } from '../http/reply.ts';
import { type Delivery, deliveryJson } from './delivery-log.ts';
import { requireWebhook, webhookKey } from './webhook.ts';

/** Latest first: whoever looks into the log wants to know what just happened. */
export async function listDeliveries(call: Call<'listDeliveries'>): Promise<Reply<'listDeliveries'>> {
  const { database, params, query, caller, url } = call;
  const { after, limit } = pageRequest(query);
  const { webhook_id, account_id } = await requireWebhook(database, webhookKey(params, caller));
  const before = after > 0 ? after : undefined;
  const rows = await selectDeliveries(database, { ...query, webhook_id, account_id, before, limit });
  const { body, headers } = page(rows, { limit }, url);
  return ok(body, headers);
}

type Query = Omit<Call<'listDeliveries'>['query'], 'limit' | 'cursor'> & { before?: number | undefined };
type Filter = keyof Query;
type Values = Query & { webhook_id: number; account_id: number; limit: number };

const conditions: Record<Filter, (p: Param<Required<Values>>) => RawBuilder<boolean>> = {
  before: (p) => sql`delivery_id < ${p('before', 'bigint')}`,
  state: (p) => sql`state = ${p('state', 'text')}`,
  type: (p) => ofTypes(sql.ref('event_type'), p('type', 'text[]')),
  record: (p) => sql`record = ${p('record', 'text')}`,
  since: (p) => sql`created_at >= ${p('since', 'timestamptz')}`,
  until: (p) => sql`created_at < ${p('until', 'timestamptz')}`,
};

const selectDeliveries = filteredStatement<Values, ListRow<Delivery>, Filter>(
  'webhooks.listDeliveries',
  Object.keys(conditions) as Filter[],
  (p, present) =>
    build
      .selectFrom('delivery')
      .select(['delivery_id as id', deliveryJson().as('resource')])
      .where('webhook_id', '=', p('webhook_id', 'bigint'))
      .where('account_id', '=', p('account_id', 'bigint'))
      .where((eb) => eb.and(present.map((filter) => conditions[filter](p))))
      .orderBy('delivery_id', 'desc')
      .limit(p('limit', 'bigint')),
);
