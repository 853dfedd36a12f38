import { type RawBuilder, sql } from 'kysely';

/**
 * The ids of a statement that some calls share, without the planner seeing how many there are. For a few it would
 * expect less work than for any number, and plan the statement anew at each execution, which costs several times the
 * look-ups.
 */
export function unplanned(ids: RawBuilder<unknown>, type = 'bigint[]'): RawBuilder<unknown> {
  return sql`(select ${ids})::${sql.raw(type)}`;
}
