import { sql } from 'kysely';
import type { Test } from 'tap';
import { type Database, openDatabase, patient } from '../../src/db/database.ts';
import { cloneDatabase } from './service.ts';

/*
 * A queue without an API in front of it: events and webhooks are inserted straight into a database.
 */

/** A database of its own with `count` webhooks of one account. */
export async function withWebhooks(t: Test, count: number, pool: { max?: number } = {}): Promise<Database> {
  const database = openDatabase(await cloneDatabase(t), pool);
  t.teardown(() => database.destroy());
  await sql`insert into webhook (account_id, url)
    select 1, 'https://example.com/' from generate_series(1, ${count}::int)`.execute(database);
  return database;
}

export async function webhookIds(database: Database): Promise<number[]> {
  const rows = await database.selectFrom('webhook').select('webhook_id').orderBy('webhook_id').execute();
  return rows.map((row) => row.webhook_id);
}

/** Adds events of one account that are not yet relayed, `daysAgo` days old. The account need not exist. */
export async function addEvents(
  database: Database,
  {
    count,
    records,
    daysAgo = 0,
    account = 1,
  }: { count: number; records: number; daysAgo?: number; account?: number },
): Promise<void> {
  await sql`
    with added as (
      insert into event (event_id, account_id, type, record, location_id, menu_id, payload)
      select uuidv7(make_interval(days => ${-daysAgo}::int)), ${account}::bigint, 'item.toggled', 'item:' || n % ${records}, 1, 1, '{}'
      from generate_series(1, ${count}::int) as n
      returning account_id, event_id
    )
    insert into outbox (account_id, event_id) select account_id, event_id from added`.execute(
    patient(database),
  );
}

/** Adds the backlog of an endpoint that was down, as the relay would have queued it. */
export async function addBacklog(database: Database, webhookId: number, count: number, records: number) {
  await sql`
    with added as (
      insert into event (event_id, account_id, type, record, location_id, menu_id, payload)
      select uuidv7(), 1, 'item.toggled', 'backlog:' || n % ${records}, 1, 1, '{}'
      from generate_series(1, ${count}::int) as n
      returning *
    ),
    entered as (
      insert into feed (account_id, epoch, position, event_id, type, record, location_id, menu_id)
      select account_id, ${webhookId}, row_number() over (order by event_id), event_id, type, record, location_id, menu_id
      from added
      returning *
    )
    insert into delivery (account_id, webhook_id, event_id, event_sequence, event_type, record, state, next_attempt_at)
    select 1, ${webhookId}, event_id, position, type, record, case when place = 1 then 'pending' else 'held' end,
      case when place = 1 then now() end
    from (select *, row_number() over (partition by record order by position) as place from entered) as entered
  `.execute(patient(database));
}
