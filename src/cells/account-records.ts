/*
 * What belongs to an account and moves with it to another cell. Not included: the outbox, which is empty by then, and
 * revoked tokens, since no cell accepts the tokens of another.
 */
import type pg from 'pg';

export interface AccountTable {
  name: string;
  /** The parent table, by whose keys its rows are found; absent: they are found by the account. */
  of?: 'client' | 'menu' | 'webhook' | 'delivery';
  /** A column with a secret, encrypted with the key of the cell. */
  sealed?: string;
}

/** In an order in which no table refers to a later one, or is found through one. */
export const accountTables: readonly AccountTable[] = [
  { name: 'account' },
  { name: 'client' },
  { name: 'retired_client_secret', of: 'client' },
  { name: 'location' },
  { name: 'menu' },
  { name: 'category', of: 'menu' },
  { name: 'item' },
  { name: 'modifier_group' },
  { name: 'modifier' },
  { name: 'modifier_group_use' },
  { name: 'webhook' },
  { name: 'webhook_secret', of: 'webhook', sealed: 'sealed_secret' },
  { name: 'endpoint_due', of: 'webhook' },
  { name: 'replay', of: 'webhook' },
  { name: 'delivery', of: 'webhook' },
  { name: 'attempt', of: 'delivery' },
  { name: 'delivery_log', of: 'webhook' },
  { name: 'feed' },
  { name: 'account_feed' },
  { name: 'event' },
  { name: 'idempotency_key', of: 'client', sealed: 'sealed_answer' },
];

/** Tables whose ids are looked up without their account, so no two cells may assign the same id. */
export const numbered = [
  ...['account', 'location', 'menu', 'category', 'item', 'modifier_group', 'modifier', 'modifier_group_use'],
  ...['webhook', 'replay'],
];

/**
 * Divides tables that only grow into what comes before it and the rest: to copy all of it while nobody can write would
 * take long.
 */
export interface Mark {
  /** The end of the feed. */
  epoch: string;
  position: string;
  /** All deliveries that ended earlier are in the log. */
  ended_at: string;
  /** The endpoints at that time, as an SQL array: the target does not have them yet when it gets their log. */
  webhook_ids: string;
}

export type Part = { mark: Mark; is: 'history' | 'rest' };

/** Tables with a history. */
export const growing = ['feed', 'event', 'delivery_log'];

/**
 * The condition under which a row of a table belongs to an account, in a form that an index serves.
 * @param part which part of the table, if it is one of those that grow; absent: all of it
 */
export function belongsTo(table: string, accountId: number, part?: Part): string {
  if (table === 'delivery_log' && part?.is === 'history')
    return `account_id = ${accountId} and webhook_id = any ('${part.mark.webhook_ids}') and ${within(table, part)}`;
  if (table === 'event') return `account_id = ${accountId} and event_id in (${eventIds(accountId, part)})`;
  const isPart = part && growing.includes(table) ? ` and ${within(table, part)}` : '';
  const above = accountTables.find(({ name }) => name === table)?.of;
  if (!above) return `account_id = ${accountId}${isPart}`;
  const key = `${above}_id`;
  return `account_id = ${accountId} and ${key} in (select ${key} from ${above} where ${belongsTo(above, accountId)})${isPart}`;
}

/** Every event is in the feed, which has an index by account, or is still on its way to an endpoint. */
function eventIds(accountId: number, part?: Part): string {
  const listed = `select event_id from feed where ${belongsTo('feed', accountId, part)}`;
  if (part?.is === 'history') return listed;
  return `${listed} union all select event_id from delivery where ${belongsTo('delivery', accountId)}
    and not exists (select from feed where feed.event_id = delivery.event_id and feed.account_id = ${accountId})`;
}

function within(table: string, { mark, is }: Part): string {
  if (table === 'delivery_log') return `ended_at ${is === 'history' ? '<' : '>='} '${mark.ended_at}'`;
  return `(epoch, position) ${is === 'history' ? '<=' : '>'} (${mark.epoch}, ${mark.position})`;
}

/** The columns of each table, in one order on all servers. */
export async function columnsOfTables(database: pg.Client): Promise<Map<string, string[]>> {
  const { rows } = await database.query<{ name: string; columns: string[] }>(
    `select table_name as name, array_agg(column_name::text order by column_name) as columns
    from information_schema.columns where table_schema = current_schema() and table_name = any ($1)
    group by table_name`,
    [accountTables.map(({ name }) => name)],
  );
  return new Map(rows.map(({ name, columns }) => [name, columns]));
}

/** The ids of its clients. */
export async function clientsOf(database: pg.Client, accountId: number): Promise<string[]> {
  const { rows } = await database.query<{ client_id: string }>(
    'select client_id from client where account_id = $1 order by client_id',
    [accountId],
  );
  return rows.map(({ client_id }) => client_id);
}
