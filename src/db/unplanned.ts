import { type RawBuilder, sql } from 'kysely';

/**
 * The ids of a shared statement, hiding their number from the planner. For a few ids it would expect less work than
 * with its generic plan, and plan the statement again at each execution, which costs several times as much as the
 * look-ups.
 */
export function unplanned(ids: RawBuilder<unknown>, type = 'bigint[]'): RawBuilder<unknown> {
  return sql`(select ${ids})::${sql.raw(type)}`;
}
