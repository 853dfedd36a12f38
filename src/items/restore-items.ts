import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { build } from '../db/statement.ts';
import { change, write } from '../records/write.ts';
import { previousFields } from './availability.ts';
import { items } from './item.ts';

/**
 * Writes down what readers see already: items whose `unavailable_until` has passed are available again, each with
 * its `item.toggled`. Any number of processes may call it; one works at a time.
 * @returns how many items came back; more may be due.
 */
export async function restoreDueItems(database: Database): Promise<number> {
  const restored = await restore(database, { request_id: null });
  return restored.length;
}

const restore = write(
  'items.restoreDueItems',
  () =>
    build
      .updateTable('item')
      .set({
        is_available: true,
        unavailable_until: null,
        version: sql`item.version + 1`,
        updated_at: sql`clock_timestamp()`,
      })
      // Only this writes to several menus at once, and two could lock them in different orders.
      .where(sql<boolean>`(select pg_try_advisory_xact_lock(hashtextextended('restore items', 0)))`)
      .where(({ eb, refTuple }) =>
        eb(refTuple('item.item_id', 'item.account_id'), 'in', (db) =>
          db
            .selectFrom('item as due')
            .select(['due.item_id', 'due.account_id'])
            .where('due.unavailable_until', '<=', sql<Date>`now()`)
            .orderBy('due.item_id')
            .limit(500)
            .forUpdate()
            .skipLocked()
            .$asTuple('item_id', 'account_id'),
        ),
      )
      .returning(change(items, 'item.toggled', { previous: previousFields() })),
  ['record'],
);
