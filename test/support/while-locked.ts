import { sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';
import type { ApiResponse } from './api.ts';
import { eventually } from './eventually.ts';

/**
 * Locks a record, starts each call once the previous one waits, runs `work`, and unlocks.
 * @param table whose key is named after it.
 */
export async function whileLocked(
  database: Database,
  [table, id]: [table: string, id: number],
  calls: (() => Promise<ApiResponse>)[],
  work: (transaction: Database) => Promise<unknown> = async () => {},
): Promise<ApiResponse[]> {
  const begun: Promise<ApiResponse>[] = [];
  await database.transaction().execute(async (transaction) => {
    const key = sql.ref(`${table}_id`);
    await sql`select from ${sql.table(table)} where ${key} = ${id} for update`.execute(transaction);
    for (const begin of calls) {
      begun.push(begin());
      await waiters(database, begun.length);
    }
    await work(transaction);
  });
  return Promise.all(begun);
}

/** Waits until `count` statements wait for locks. @returns those that do */
export function waiters(database: Database, count: number): Promise<unknown[]> {
  return eventually('a statement waits', async () => {
    const { rows } = await sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(database);
    return rows.length >= count && rows;
  });
}
