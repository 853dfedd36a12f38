/**
 * What is kept for a time only is in tables that are partitioned by days (migrations/0012_partitions.sql has the
 * functions). Their locks conflict with those of a dump: whoever would have to wait gives up, and is asked again later.
 */
import { sql } from 'kysely';
import { type Database, inTransaction } from './database.ts';
import { type Param, statement } from './statement.ts';

/** Days to come that have their partitions. */
const daysAhead = 3;

const tables = ['event', 'feed', 'delivery_log'];

/**
 * Sees to it that today and the days to come have partitions; where they had none, the default partition has taken
 * the rows, and becomes one.
 * @param unhurried the same database, waiting without a limit: one of the steps looks through all that the default
 *   partition has taken. Only what was too long for `database` is waited for so, since a connection that has gone dark
 *   would not be noticed.
 * @returns whether there is another step.
 */
export async function keepPartitions(database: Database, unhurried = database): Promise<boolean> {
  let more = false;
  for (const table of tables) {
    const values = { table, days_ahead: daysAhead };
    const [kept] = await unlessLocked(async () => {
      try {
        return await keep(database, values);
      } catch (error) {
        if (codeOf(error) !== queryCanceled) throw error;
        return await inTransaction(unhurried, async (transaction) => {
          await sql`select set_config('statement_timeout', '0', true)`.execute(transaction);
          return keep(transaction, values);
        });
      }
    });
    more ||= kept?.more === true;
  }
  return more;
}

const queryCanceled = '57014';

/** Drops what has ended so many days ago. */
export async function dropPartitions(database: Database, days: number): Promise<false> {
  await unlessLocked(() => dropEvents(database, { days }));
  await unlessLocked(() => dropLog(database, { days }));
  return false;
}

async function unlessLocked<Row>(change: () => Promise<Row[]>): Promise<Row[]> {
  try {
    return await change();
  } catch (error) {
    // lock_not_available, deadlock_detected
    if (['55P03', '40P01'].includes(codeOf(error))) return [];
    throw error;
  }
}

function codeOf(error: unknown): string {
  return (error as { code?: string }).code ?? '';
}

const keep = statement(
  'db.keepPartitions',
  (p: Param<{ table: string; days_ahead: number }>) => sql<{ more: boolean }>`
    select keep_partitions(${p('table', 'regclass')}, ${p('days_ahead', 'integer')}) as more`,
);

const dropEvents = statement(
  'db.dropEvents',
  (p: Param<{ days: number }>) => sql<object>`
    select drop_events(now() - make_interval(days => ${p('days', 'integer')}))`,
);

const dropLog = statement(
  'db.dropDeliveryLog',
  (p: Param<{ days: number }>) => sql<object>`
    select drop_partitions('delivery_log', now() - make_interval(days => ${p('days', 'integer')}))`,
);
