import { sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';

/* Deliveries and attempts wherever they are: in the queue, or in the log once they have ended. */

export interface StoredDelivery {
  delivery_id: number;
  webhook_id: number;
  record: string;
  state: string;
  failed_reason: string | null;
  attempts: number;
}

/** In the order of their ids. */
export async function storedDeliveries(
  database: Database,
  { webhook_id }: { webhook_id?: number } = {},
): Promise<StoredDelivery[]> {
  const { rows } = await sql<StoredDelivery>`
    select delivery_id, webhook_id, record, state, failed_reason, attempts from (
      select delivery_id, webhook_id, record, state, null as failed_reason, attempts from delivery
      union all
      select delivery_id, webhook_id, record, state, failed_reason, attempt_count from delivery_log
    ) as either
    where webhook_id = coalesce(${webhook_id ?? null}::bigint, webhook_id)
    order by delivery_id`.execute(database);
  return rows;
}

export interface StoredAttempt {
  delivery_id: number;
  webhook_id: number;
  state: string;
  number: number;
  started_at: Date;
  status: number | null;
  error: string | null;
  response_excerpt: string | null;
}

/** In the order of their deliveries' ids and their numbers. */
export async function storedAttempts(
  database: Database,
  { webhook_id }: { webhook_id?: number } = {},
): Promise<StoredAttempt[]> {
  const { rows } = await sql<StoredAttempt>`
    select * from (
      select delivery_id, webhook_id, state, number, started_at, status, error, response_excerpt
      from attempt join delivery using (delivery_id, account_id)
      union all
      select delivery_id, webhook_id, state, one.* from delivery_log, json_to_recordset(attempts)
        as one (number smallint, started_at timestamptz, status smallint, error text, response_excerpt text)
    ) as either
    where webhook_id = coalesce(${webhook_id ?? null}::bigint, webhook_id)
    order by delivery_id, number`.execute(database);
  return rows;
}
