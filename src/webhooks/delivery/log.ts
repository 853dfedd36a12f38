/**
 * A delivery that has ended goes from the queue to the log, in one statement: a row of `delivery` is deleted, and one
 * row of `delivery_log` has all that was in it, with its attempts. Rows of the log change no more, and go with their
 * partition.
 */
import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../../generated/api.ts';
import { columns, type Json, jsonObject, rfc3339 } from '../../db/json.ts';

type Attempt = components['schemas']['Attempt'];
export type FailedReason = components['schemas']['DeliveryFailedReason'];

/** A row of `attempt`, or one with the same columns, as the API shows it. */
export function attemptJson(row = 'attempt'): RawBuilder<Json<Attempt>> {
  const attempt = columns('attempt', row);
  return jsonObject<Attempt>({
    number: attempt.number,
    started_at: rfc3339(attempt.started_at),
    duration_ms: attempt.duration_ms,
    status: attempt.status,
    error: attempt.error,
    response_excerpt: attempt.response_excerpt,
  });
}

/** SQL for those attempts at a delivery of the queue that are shown, the latest first, as an array of JSON. */
export function attemptsAt(row: string, most = 100): RawBuilder<unknown> {
  return sql`array(select ${attemptJson()} from attempt
    where attempt.delivery_id = ${sql.ref(`${row}.delivery_id`)} and attempt.account_id = ${sql.ref(`${row}.account_id`)}
    order by attempt.number desc limit ${sql.lit(most)})`;
}

/** What `ended`, a delete from `delivery`, must return; the attempts at it go with it. */
export const endedColumns = sql.raw(
  [
    'delivery_id',
    'account_id',
    'webhook_id',
    'event_id',
    'event_sequence',
    'event_type',
    'record',
    'attempts',
    'spared',
  ]
    .concat(['replay_id', 'created_at'])
    .map((column) => `delivery.${column}`)
    .join(', '),
);

/** SQL that enters the rows of the CTE `ended` into the log. */
export function enterLog(entry: {
  state: RawBuilder<unknown>;
  failedReason: RawBuilder<unknown>;
  attemptCount: RawBuilder<unknown>;
  /** An array of JSON. */
  attempts: RawBuilder<unknown>;
  endedAt: RawBuilder<unknown>;
}): RawBuilder<unknown> {
  return sql`
    insert into delivery_log (delivery_id, account_id, webhook_id, event_id, event_sequence, event_type, record, spared,
      replay_id, created_at, state, failed_reason, attempt_count, attempts, ended_at)
    select delivery_id, account_id, webhook_id, event_id, event_sequence, event_type, record, spared,
      replay_id, created_at, ${entry.state}, ${entry.failedReason}, ${entry.attemptCount},
      array_to_json(${entry.attempts}), ${entry.endedAt}
    from ended`;
}

/**
 * SQL for whether deliveries go to the log; until then, processes of the previous release look for them in the queue.
 */
export const isLogging = sql<boolean>`(select starts_at <= now() from delivery_log_start)`;
