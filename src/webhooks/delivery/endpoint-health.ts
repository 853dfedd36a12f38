/**
 * How an endpoint is doing, stored in its row so that all processes know without being told.
 *
 * Circuit breaker: after `tripAfter` failures in a row, of whatever records, the circuit opens. Each process then
 * makes one attempt at a time, and the next not before `probe_at`: a tenth of the time for which the endpoint has
 * been failing, between 5 seconds and 5 minutes. One success closes it. Deliveries that wait are not attempted, so
 * they lose none of their attempts and go out in order once the endpoint is back; so do those that were attempted
 * meanwhile (recovery.ts).
 *
 * Retry-After on a 429 or 503 applies to the endpoint: nothing is attempted there earlier. An endpoint that responds
 * 410, or that fails for five days without a success, is disabled. Periods without attempts that are longer than any
 * scheduled wait do not count.
 */

import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { type Param, statement } from '../../db/statement.ts';
import { newStamp, type Stamped } from '../../http/conditional.ts';
import { longestDelayMs } from './retry-schedule.ts';

/** Summary of a batch of results for one endpoint. */
export interface Impression {
  webhook_id: number;
  failures: number;
  /** Something got through. */
  reached: boolean;
  /** It responded 410. */
  gone: boolean;
  /** The delay it asked for with Retry-After, up to a day; null: none. */
  quietMs: number | null;
}

/** Failures in a row that open the circuit. */
export const tripAfter = 10;
const failingDays = 5;

/** Longer than any scheduled wait, so nothing was attempted meanwhile. */
const idleMs = 1.25 * longestDelayMs;

/** How many attempts one process may have in progress for a row of `webhook`; `most` while it is healthy. */
export function allowedAttempts(most: RawBuilder<number>): RawBuilder<number> {
  return sql`case when webhook.quiet_until > now() then 0
    when webhook.consecutive_failures < ${sql.lit(tripAfter)} then ${most}
    when webhook.probe_at <= now() then 1 else 0 end`;
}

/** The state of a new endpoint, and of one that is enabled by hand. */
export const goodHealth = {
  failing_since: null,
  consecutive_failures: 0,
  probe_at: null,
  quiet_until: null,
  disabled_reason: null,
  disabled_at: null,
} as const;

/** Applies the results; the endpoints must be locked. Writes nothing for one that was healthy and still is. */
export async function noteHealth(transaction: Database, impressions: Impression[]): Promise<void> {
  await note(transaction, {
    webhook_ids: impressions.map(({ webhook_id }) => webhook_id),
    failures: impressions.map(({ failures }) => failures),
    reached: impressions.map(({ reached }) => reached),
    quiet_ms: impressions.map(({ quietMs }) => quietMs),
  });
  const failing = impressions.filter(({ reached, gone }) => gone || !reached);
  if (failing.length === 0) return;
  await disable(transaction, {
    webhook_ids: failing.map(({ webhook_id }) => webhook_id),
    gone_ids: failing.filter(({ gone }) => gone).map(({ webhook_id }) => webhook_id),
    stamp: newStamp(),
  });
}

const idleTime = sql`case when last_failed_at < now() - make_interval(secs => ${sql.lit(idleMs / 1000)})
  then now() - last_failed_at else interval '0' end`;

const note = statement(
  'webhooks.noteHealth',
  (p: Param<Columns>) => sql<object>`
    update webhook
    set failing_since = case when not reached then coalesce(failing_since + ${idleTime}, now()) end,
      last_failed_at = case when not reached then now() end,
      consecutive_failures = case when reached then 0 else consecutive_failures + failures end,
      probe_at = case when not reached then now() +
        least(greatest((now() - coalesce(failing_since, now())) / 10, interval '5 seconds'), interval '5 minutes') end,
      quiet_until = greatest(quiet_until, now() + make_interval(secs => quiet_ms / 1000)),
      recovered_at = case when reached and consecutive_failures >= ${sql.lit(tripAfter)} then now() else recovered_at end
    from unnest(${p('webhook_ids', 'bigint[]')}, ${p('failures', 'int[]')}, ${p('reached', 'boolean[]')},
        ${p('quiet_ms', 'float8[]')})
      as impression (webhook_id, failures, reached, quiet_ms)
    where webhook.webhook_id = impression.webhook_id
      and (failing_since is not null or not reached or quiet_ms is not null)`,
);

interface Columns {
  webhook_ids: number[];
  failures: number[];
  reached: boolean[];
  quiet_ms: (number | null)[];
}

const disable = statement(
  'webhooks.disable',
  (p: Param<Stamped & { webhook_ids: number[]; gone_ids: number[] }>) => {
    const isGone = sql`webhook_id = any (${p('gone_ids', 'bigint[]')})`;
    return sql<object>`
      update webhook
      set enabled = false, disabled_reason = case when ${isGone} then 'gone' else 'failing' end,
        disabled_at = now(), updated_at = clock_timestamp(), version = version + 1, stamp = ${p('stamp', 'integer')}
      where webhook_id = any (${p('webhook_ids', 'bigint[]')}) and enabled
        and (${isGone} or failing_since <= now() - make_interval(days => ${sql.lit(failingDays)}))`;
  },
);
