import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import type { Backlog } from '../../metrics/metrics.ts';

const most = 50_000;

/**
 * What is on its way to enabled endpoints. Bounded, however much waits: counts stop at 50,000, and the oldest is
 * looked for among the ten of each endpoint that have been due longest.
 */
export async function readBacklog(database: Database): Promise<Backlog> {
  const [backlog] = await select(database, {});
  if (!backlog) throw new Error('no backlog was read');
  return backlog;
}

const select = statement(
  'webhooks.backlog',
  () => sql<Backlog>`
    with recursive waiting as (
      (select webhook_id from delivery where state = 'pending' order by webhook_id limit 1)
      union all
      select (select webhook_id from delivery
        where state = 'pending' and delivery.webhook_id > waiting.webhook_id order by webhook_id limit 1)
      from waiting where webhook_id is not null
    ),
    endpoint as materialized (select webhook_id from waiting join webhook using (webhook_id) where enabled),
    oldest as (
      (select created_at from event where not relayed order by sequence limit 1)
      union all
      select head.created_at from endpoint, lateral (
        select created_at from delivery
        where delivery.webhook_id = endpoint.webhook_id and state = 'pending'
        order by next_attempt_at limit 10
      ) as head
    )
    select
      (select count(*) from (select from event where not relayed limit ${sql.lit(most)}) as found) as unrelayed,
      ${counted('pending')} as pending,
      ${counted('held')} as held,
      (select coalesce(extract(epoch from greatest(now() - min(created_at), interval '0')), 0) from oldest)::float8
        as oldest_seconds`,
);

// One endpoint after the other by the index, until the limit ends it.
function counted(state: 'pending' | 'held') {
  return sql<number>`(select count(*) from (
    select from endpoint, lateral (
      select from delivery
      where delivery.webhook_id = endpoint.webhook_id and delivery.state in ('held', 'pending')
        and delivery.state = ${sql.lit(state)}
      limit ${sql.lit(most)}
    ) as one limit ${sql.lit(most)}
  ) as found)`;
}
