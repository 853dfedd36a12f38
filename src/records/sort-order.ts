import { type RawBuilder, sql } from 'kysely';

/**
 * The `sort_order` of a new row: as given, or after the last of its siblings.
 * @param parent the column that siblings share; the query has the parent under the name `home`.
 */
export function sortOrder(
  given: RawBuilder<number | null>,
  table: 'menu' | 'category' | 'item',
  parent: 'location_id' | 'menu_id' | 'category_id',
): RawBuilder<number> {
  return sql`coalesce(${given}, (
    select least(coalesce(max(sort_order), -1) + 1::bigint, 2147483647)::integer from ${sql.table(table)}
    where ${sql.ref(`${table}.${parent}`)} = ${sql.ref(`home.${parent}`)} and account_id = home.account_id))`;
}
