import { sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';
import { eventually } from './eventually.ts';

/**
 * Locks all items, starts calls, and does something else once all of them wait in the database.
 * @returns its result, after the calls have ended.
 */
export async function whileItemsAreLocked<T>(
  database: Database,
  begin: () => Promise<unknown>,
  count: number,
  beside: () => Promise<T>,
): Promise<T> {
  const begun: Promise<unknown>[] = [];
  const result = await database.transaction().execute(async (transaction) => {
    await sql`lock table item in access exclusive mode`.execute(transaction);
    for (let one = 0; one < count; one += 1) begun.push(begin());
    await eventually(`${count} calls wait`, async () => {
      const { rows } = await sql`select from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database()`.execute(database);
      return rows.length >= count;
    });
    return beside();
  });
  await Promise.all(begun);
  return result;
}
