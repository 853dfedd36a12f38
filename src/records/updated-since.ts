import { type RawBuilder, sql } from 'kysely';
import type { Param } from '../db/statement.ts';

/** The condition of the filter `updated_since`, on a query of one table. */
export function isUpdatedSince(p: Param<{ updated_since?: string | undefined }>): RawBuilder<boolean> {
  return sql`updated_at >= ${p('updated_since', 'timestamptz')}`;
}
