import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { DB } from '../../../generated/database.ts';
import { isAway } from '../../db/cell.ts';
import { type Database, inTransaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import type { Backlog } from '../../metrics/metrics.ts';
import { ownerObjection } from './owner.ts';

/** Rows of one kind that are looked at, at most. */
const most = 10_000;

/**
 * What is on its way to enabled endpoints. However much is waiting, a bounded number of rows is read: counts stop at
 * 10,000, `held` is counted among the first 10,000 unfinished deliveries, and the oldest is searched among those of
 * each endpoint that have been due longest. Endpoints at which nothing is due cost nothing: due deliveries are
 * counted only at endpoints that claims look at, and how long the others have been waiting is stored
 * (due-endpoints.ts).
 * @throws when it takes more than a second.
 */
export function readBacklog(database: Database): Promise<Backlog> {
  return inTransaction(database, async (transaction) => {
    await keepBounds(transaction);
    const [backlog] = await select(transaction, {});
    if (!backlog) throw new Error('no backlog was read');
    return backlog;
  });
}

/**
 * Bounds the transaction: a second, and rows in the order of an index until there are enough. Other ways of finding
 * them read all that waits, which the planner takes to be little until statistics say otherwise.
 */
export async function keepBounds(transaction: Transaction<DB>): Promise<void> {
  await sql`select set_config('statement_timeout', '1s', true), set_config('enable_sort', 'off', true),
    set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`.execute(
    transaction,
  );
}

const isDue = sql<boolean>`next_attempt_at >= endpoint.oldest_at and next_attempt_at <= now()`;

const select = statement(
  'webhooks.backlog',
  () => sql<Backlog>`
    with listed as (
      select webhook_id, account_id, oldest_at from endpoint_due
      where look_at > now() - interval '10 minutes' and look_at <= now()
      order by look_at desc limit ${sql.lit(most)}
    ),
    endpoint as materialized (
      select webhook_id, oldest_at, count(*) over () as endpoints
      from listed cross join lateral (
        select enabled, client_id, account_id from webhook
        where webhook.webhook_id = listed.webhook_id and webhook.account_id = listed.account_id limit 1
      ) as webhook
      where enabled and ${ownerObjection()} is null and not ${isAway('webhook.account_id')}
    ),
    oldest as (
      (select uuid_extract_timestamp(event_id) as since from outbox order by sequence limit 1)
      union all
      select head.created_at from endpoint, lateral (
        select created_at from delivery
        where delivery.webhook_id = endpoint.webhook_id and state = 'pending'
          and next_attempt_at >= endpoint.oldest_at
        order by next_attempt_at limit least(10, greatest(1, ${sql.lit(most)} / endpoints))
      ) as head
      union all
      (select waiting_since
        from (
          select webhook_id, account_id, waiting_since from endpoint_due
          where waiting_since is not null order by waiting_since limit ${sql.lit(most)}
        ) as waiting
        cross join lateral (
          select enabled, client_id, account_id from webhook
          where webhook.webhook_id = waiting.webhook_id and webhook.account_id = waiting.account_id limit 1
        ) as webhook
        where enabled and ${ownerObjection()} is null and not ${isAway('webhook.account_id')}
        order by waiting_since limit 1)
    )
    select
      (select count(*) from (select from outbox order by sequence limit ${sql.lit(most)}) as found)
        as unrelayed,
      (select count(*) from ${first(['pending'], sql`next_attempt_at`, isDue)}) as pending,
      (select count(*) from ${first(['held', 'pending'], sql`record, event_sequence`)} where state = 'held') as held,
      (select coalesce(extract(epoch from greatest(now() - min(since), interval '0')), 0) from oldest)::float8
        as oldest_seconds`,
);

// One endpoint after the other, in the order of the index on these states, until the limit ends it.
function first(states: ('held' | 'pending')[], order: RawBuilder<unknown>, condition = sql<boolean>`true`) {
  const among = sql.join(states.map((state) => sql.lit(state)));
  return sql`(
    select one.state from endpoint, lateral (
      select state from delivery
      where delivery.webhook_id = endpoint.webhook_id and state in (${among}) and ${condition}
      order by ${order} limit ${sql.lit(most)}
    ) as one limit ${sql.lit(most)}
  ) as found`;
}
