import { type RawBuilder, sql } from 'kysely';
import type { Table } from './record-kind.ts';

/** The largest `sort_order` that the contract permits. */
export const largestSortOrder = 2_147_483_647;

/**
 * The `sort_order` of a new row: the given one, or after the last of its siblings.
 * @param parent the column that siblings share; the query has the parent under the name `home`.
 */
export function nextSortOrder(
  wanted: RawBuilder<number | null>,
  table: Table,
  parent: 'location_id' | 'menu_id' | 'category_id' | 'modifier_group_id',
): RawBuilder<number> {
  return sql`coalesce(${wanted}, (
    select least(coalesce(max(sort_order), -1) + 1::bigint, ${sql.lit(largestSortOrder)})::integer
    from ${sql.table(table)}
    where ${sql.ref(`${table}.${parent}`)} = ${sql.ref(`home.${parent}`)} and account_id = home.account_id))`;
}
