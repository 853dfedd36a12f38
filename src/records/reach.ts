import { type RawBuilder, sql } from 'kysely';
import type { Param } from '../db/statement.ts';
import type { Caller } from '../http/caller.ts';
import { forbidden, notFound } from '../http/errors.ts';

/** The records a caller may act on, as the values of a statement. */
export interface Reach {
  account_id: number;
  /** null: every location of the account. */
  location_ids: number[] | null;
}

/** The account and the locations that the caller may act on, as statements take them. */
export function reachOf({ accountId, locationIds }: Caller): Reach {
  return { account_id: accountId, location_ids: locationIds };
}

/** The same text for the same reach. */
export function reachKey({ account_id, location_ids }: Reach): string {
  return location_ids ? `${account_id} ${location_ids}` : `${account_id}`;
}

/** The condition of every statement: the row belongs to the caller's account and to a location of its grant. */
export function withinReach(p: Param<Reach>, row: string): RawBuilder<boolean> {
  const ids = p('location_ids', 'bigint[]');
  return sql`(${sql.ref(`${row}.account_id`)} = ${p('account_id', 'bigint')}
    and (${ids} is null or ${sql.ref(`${row}.location_id`)} = any (${ids})))`;
}

/**
 * @throws 404 when there is no row, 403 when the record exists and this caller may not act on it.
 */
export function requireReach<Row extends { within_reach: boolean }>(row: Row | undefined, noun: string): Row {
  if (!row) throw notFound(`There is no such ${noun}.`);
  if (!row.within_reach) throw forbidden(`This ${noun} is not accessible to this client.`);
  return row;
}
