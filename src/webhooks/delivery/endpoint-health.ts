import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { DB } from '../../../generated/database.ts';

/*
 * How an endpoint is doing, kept in its row so that all processes know and none has to be told.
 *
 * Circuit breaker: after `tripAfter` failures in a row, whatever the records, the circuit is open. Each process then
 * makes one attempt at a time, and the next not before `probe_at`: a tenth of how long the endpoint has been failing,
 * between 5 seconds and 5 minutes. One success closes it. What waits is not attempted, so it uses up none of its
 * schedule and goes out in order once the endpoint is back.
 *
 * An endpoint that answers 410, or that fails for five days with nothing getting through, is disabled.
 */

/** What a batch of results says of one endpoint. */
export interface Impression {
  webhook_id: number;
  failures: number;
  /** Something got through. */
  reached: boolean;
  /** It answered 410. */
  gone: boolean;
}

const tripAfter = 10;
const failingDays = 5;

/** How many attempts one process may have under way at a row of `webhook`; `most` while it is healthy. */
export function allowedAttempts(most: number): RawBuilder<number> {
  return sql`case when webhook.consecutive_failures < ${tripAfter} then ${most}::integer
    when webhook.probe_at <= now() then 1 else 0 end`;
}

/** What an endpoint starts with, and again when it is enabled by hand. */
export const goodHealth = {
  failing_since: null,
  consecutive_failures: 0,
  probe_at: null,
  disabled_reason: null,
  disabled_at: null,
} as const;

/** Notes what the results say; the endpoints must be locked. Writes nothing about one that was and is healthy. */
export async function noteHealth(transaction: Transaction<DB>, impressions: Impression[]): Promise<void> {
  const column = <T>(value: (impression: Impression) => T) => impressions.map(value);
  await sql`
    update webhook
    set failing_since = case when not reached then coalesce(failing_since, now()) end,
      consecutive_failures = case when reached then 0 else consecutive_failures + failures end,
      probe_at = case when not reached then now() +
        least(greatest((now() - coalesce(failing_since, now())) / 10, interval '5 seconds'), interval '5 minutes') end
    from unnest(
      ${column(({ webhook_id }) => webhook_id)}::bigint[],
      ${column(({ failures }) => failures)}::int[],
      ${column(({ reached }) => reached)}::boolean[]
    ) as impression (webhook_id, failures, reached)
    where webhook.webhook_id = impression.webhook_id and (failing_since is not null or not reached)
  `.execute(transaction);
  const failing = impressions.filter(({ reached, gone }) => gone || !reached);
  if (failing.length > 0) await disable(transaction, failing);
}

async function disable(transaction: Transaction<DB>, failing: Impression[]): Promise<void> {
  const gone = failing.filter((impression) => impression.gone).map(({ webhook_id }) => webhook_id);
  const isGone = sql<boolean>`webhook_id = any (${gone}::bigint[])`;
  await transaction
    .updateTable('webhook')
    .set({
      enabled: false,
      disabled_reason: sql<string>`case when ${isGone} then 'gone' else 'failing' end`,
      disabled_at: sql`now()`,
      updated_at: sql`clock_timestamp()`,
      version: sql`version + 1`,
    })
    .where(sql<boolean>`webhook_id = any (${failing.map(({ webhook_id }) => webhook_id)}::bigint[])`)
    .where('enabled', '=', true)
    .where(sql<boolean>`(${isGone} or failing_since <= now() - make_interval(days => ${failingDays}))`)
    .execute();
}
