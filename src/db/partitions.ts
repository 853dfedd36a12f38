/**
 * Tables whose rows are kept for a limited time are partitioned by days (migrations/0012_partitions.sql has the
 * functions). Their locks conflict with those of a dump: a call that would have to wait gives up, and is repeated
 * later.
 */
import { sql } from 'kysely';
import { type Database, inTransaction } from './database.ts';
import { type Param, statement } from './statement.ts';

/** How many coming days have partitions. */
const daysAhead = 3;

const tables = ['event', 'feed', 'delivery_log'];

/**
 * Ensures that today and the coming days have partitions. If they had none, rows went into the default partition, which
 * now becomes an ordinary one.
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
  await unlessLocked(() => dropEvents(database, days));
  await unlessLocked(() => dropLog(database, { days }));
  return false;
}

/**
 * Records for each account the last event that its feed is about to lose, a few hundred accounts at a time, and then
 * drops the days. The drop makes everybody wait, so it must not go through all accounts itself. The records stay right
 * until then: no event is added to a past day, and days with events that are not in the feed yet are left out.
 */
async function dropEvents(database: Database, days: number): Promise<object[]> {
  const [past] = await selectPast(database, { days });
  const until = past?.until;
  if (!until) return [];
  for (let after: number | null = 0; after !== null; ) {
    const [noted]: { last: number | null }[] = await noteDropped(database, { until, after });
    after = noted?.last ?? null;
  }
  return dropNoted(database, { until });
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

/** The end of the last day to be dropped; null when there is none. */
const selectPast = statement(
  'db.daysToDrop',
  (p: Param<{ days: number }>) => sql<{ until: string | null }>`
    select max(until)::text as until
    from (values ('feed'::regclass), ('event')) as parent (name), partitions_of(name)
    where until <= least(
      now() - make_interval(days => ${p('days', 'integer')}),
      (select uuid_extract_timestamp(event_id) from outbox order by event_id limit 1)
    )`,
);

/** Locks accounts in the order in which the relay does; `last` is null when there are no more of them. */
const noteDropped = statement(
  'db.noteDroppedEvents',
  (p: Param<{ until: string; after: number }>) => sql<{ last: number | null }>`
    with own as materialized (
      select account_id from account_feed where account_id > ${p('after', 'bigint')}
      order by account_id limit 500 for no key update
    ),
    dropped as materialized (
      select own.account_id, last.* from own cross join lateral (
        select epoch, position, event_id from feed
        where feed.account_id = own.account_id and event_id < event_id_at(${p('until', 'timestamptz')})
        order by epoch desc, position desc limit 1
      ) as last
    ),
    noted as (
      update account_feed
      set removed_epoch = dropped.epoch, removed_position = dropped.position, removed_event_id = dropped.event_id
      from dropped
      where account_feed.account_id = dropped.account_id
        and coalesce((dropped.epoch, dropped.position) > (removed_epoch, removed_position), true)
    )
    select max(account_id) as last from own`,
);

const dropNoted = statement(
  'db.dropNotedEvents',
  (p: Param<{ until: string }>) => sql<object>`select drop_noted_events(${p('until', 'timestamptz')})`,
);

const dropLog = statement(
  'db.dropDeliveryLog',
  (p: Param<{ days: number }>) => sql<object>`
    select drop_partitions('delivery_log', now() - make_interval(days => ${p('days', 'integer')}))`,
);
