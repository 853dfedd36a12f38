import { sql } from 'kysely';
import { isStaying } from '../db/cell.ts';
import type { Database } from '../db/database.ts';
import type { Param } from '../db/statement.ts';
import type { Switched } from './absence.ts';
import type { RecordKind } from './record-kind.ts';
import { previousOfSwitch } from './switches.ts';
import { type ChangeRow, change, list, type TouchOptions, type Written, write, written } from './write.ts';

/**
 * Stores what readers already see: records whose `unavailable_until` has passed are available again, each with its
 * event. Any number of processes may call it; only one works at a time.
 * @param touch how to find the menus that show the records
 * @returns a function that returns how many became available; more may be due.
 */
export function restoreDue<T>(
  name: string,
  kind: RecordKind<never, T> & { table: Switched },
  touch: TouchOptions,
): (database: Database) => Promise<number> {
  const table = sql.table(kind.table);
  const id = sql.ref(`${kind.table}_id`);
  const restore = write(
    name,
    // One at a time is enough; two would only divide the due records between them.
    (p: Param<Written>) => sql<ChangeRow<T>>`
      update ${table} set is_available = true, unavailable_until = null, unavailable_since = null, unavailable_by = null,
        version = ${table}.version + 1, stamp = ${p('stamp', 'integer')}, updated_at = clock_timestamp()
      where (select pg_try_advisory_xact_lock(hashtextextended(${sql.lit(`restore ${kind.table}s`)}, 0)))
        and (${id}, account_id) in (
          select due.${id}, due.account_id from ${table} as due
          where due.unavailable_until <= now() and ${isStaying('due.account_id')}
          order by due.${id} limit 500 for update skip locked)
      returning ${list(change(kind, `${kind.table}.toggled`, { previous: previousOfSwitch }))}`,
    ['record'],
    touch,
  );
  return async (database) => (await restore(database, written(null))).length;
}
