/**
 * Tables whose rows are kept for a limited time are partitioned by days (migrations/0012_partitions.sql has the
 * functions). Their locks conflict with those of a dump: a call that would have to wait gives up, and is repeated
 * later.
 */
import { sql } from 'kysely';
import { type Database, inTransaction } from './database.ts';
import { type Param, statement } from './statement.ts';

/** Days to come that have their partitions. */
const daysAhead = 3;

const tables = ['event', 'feed', 'delivery_log'];

/**
 * Ensures that today and the coming days have partitions. If they had none, rows have gone into the default
 * partition, which becomes an ordinary one.
 * @param unhurried the same database without a time limit, used only for steps that were too slow for `database`: one
 *   of them reads the whole default partition. A connection without a limit would not notice a dead network.
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

/** Drops partitions that ended this many days ago. */
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
