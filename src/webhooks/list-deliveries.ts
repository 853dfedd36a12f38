import { type RawBuilder, sql } from 'kysely';
import { filteredStatement, type Param } from '../db/statement.ts';
import { typesNamed } from '../events/event.ts';
import type { Call, Reply } from '../http/handler.ts';
import { type ListRow, page, pageRequest } from '../http/pagination.ts';
import { ok } from '../http/reply.ts';
import { type Delivery, deliveries, deliveryJson } from './delivery-log.ts';
import { requireWebhook, webhookKey } from './webhook.ts';

/*
 * As in the event feed, a page is read through an index that contains only what one filter selects, and examines a
 * bounded number of deliveries if other filters remain.
 */

const mostExamined = 5_000;
const mostListed = 200;

/** Latest first: whoever looks into the log wants to know what just happened. */
export async function listDeliveries(call: Call<'listDeliveries'>): Promise<Reply<'listDeliveries'>> {
  const { database, params, query, caller, url } = call;
  const { after, limit } = pageRequest(query);
  const { webhook_id, account_id } = await requireWebhook(database, webhookKey(params, caller));
  const { state, type, record, since, until } = query;
  const rows = await selectDeliveries(database, {
    ...(state === 'failed' ? { failed: true } : { state }),
    type: type && typesNamed(type),
    record,
    since,
    until,
    before: after > 0 ? after : undefined,
    webhook_id,
    account_id,
    limit,
  });
  const listed = rows.filter(({ is_end }) => !is_end) as ListRow<Delivery>[];
  const end = rows.find(({ is_end }) => is_end);
  const { body, headers } = page(listed, { limit }, url, end?.id);
  return ok(body, headers);
}

interface Filters {
  before?: number | undefined;
  since?: string | undefined;
  until?: string | undefined;
  record?: string | undefined;
  /** Apart from the other states: failures are few, and have an index. */
  failed?: true | undefined;
  state?: Delivery['state'] | undefined;
  type?: string[] | undefined;
}

type Values = Filters & { webhook_id: number; account_id: number; limit: number };

/** A delivery; or, behind them, the last that was examined where there may be more. */
type Row = Omit<ListRow<Delivery>, 'resource'> & {
  resource: ListRow<Delivery>['resource'] | null;
  is_end: boolean;
};

type Table = 'delivery' | 'delivery_log';

const conditions: Record<keyof Filters, (p: Param<Required<Values>>, table: Table) => RawBuilder<boolean>> = {
  before: (p) => sql`delivery_id < ${p('before', 'bigint')}`,
  since: (p, table) => sql`created_at >= ${p('since', 'timestamptz')}
    ${table === 'delivery_log' ? sql`and ended_at >= ${p('since', 'timestamptz')}` : sql``}
    and delivery_id > coalesce((${nearest(p, table, sql`created_at < ${p('since', 'timestamptz')} - ${margin} order by created_at desc`)}), 0)`,
  until: (p, table) => sql`created_at < ${p('until', 'timestamptz')}
    and delivery_id < coalesce((${nearest(p, table, sql`created_at >= ${p('until', 'timestamptz')} + ${margin} order by created_at`)}), ${sql.lit(Number.MAX_SAFE_INTEGER)})`,
  record: (p) => sql`record = ${p('record', 'text')}`,
  failed: () => sql`state = 'failed'`,
  state: (p) => sql`state = ${p('state', 'text')}`,
  type: (p) => sql`event_type = any (${p('type', 'text[]')})`,
};

// Deliveries of one endpoint are queued one batch after the other, so their ids follow time, except within the
// duration of a batch, which the limits of the server keep far below this value.
const margin = sql`interval '1 minute'`;

function nearest(
  p: Param<Required<Values>>,
  table: Table,
  condition: RawBuilder<unknown>,
): RawBuilder<number> {
  return sql`select near.delivery_id from ${sql.table(table)} as near
    where near.webhook_id = ${p('webhook_id', 'bigint')} and near.${condition} limit 1`;
}

const selectDeliveries = filteredStatement<Values, Row, keyof Filters>(
  'webhooks.listDeliveries',
  Object.keys(conditions) as (keyof Filters)[],
  (p, present) => {
    const chosen = (['record', 'failed'] as const).find((filter) => present.includes(filter));
    const isOther = (filter: keyof Filters) =>
      filter !== chosen && ['record', 'failed', 'state', 'type'].includes(filter);
    const inOrder = (table: Table) =>
      present.filter((filter) => !isOther(filter)).map((filter) => conditions[filter](p, table));
    const others = present.filter(isOther).map((filter) => conditions[filter](p, 'delivery'));
    const most = others.length > 0 ? mostExamined : mostListed + 1;
    const all = (some: RawBuilder<boolean>[]) => sql.join([sql`true`, ...some], sql` and `);
    return sql<Row>`
      with examined as (
        select * from (${deliveries(
          (
            table,
          ) => sql`webhook_id = ${p('webhook_id', 'bigint')} and account_id = ${p('account_id', 'bigint')}
            and ${all(inOrder(table))} order by delivery_id desc limit ${most}`,
        )}) as either
        order by delivery_id desc limit ${most}
      ),
      listed as (
        select * from examined as delivery where ${all(others)}
        order by delivery_id desc limit ${p('limit', 'bigint')}
      )
      select delivery_id as id, ${deliveryJson()} as resource, false as is_end from listed as delivery
      union all
      select min(delivery_id), null, true from examined having count(*) = ${most}
      order by is_end, id desc`;
  },
);
