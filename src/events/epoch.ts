import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { build, statement } from '../db/statement.ts';

/*
 * An epoch is one history of the database: a period on one server, without a restore, a promotion or a move. Numbers
 * within an epoch have no meaning outside of it. Whether an epoch has ended follows from server_history()
 * (src/db/migrations/0007_histories.sql). A disk that was put back to an earlier state does not show there, so
 * readers check more than the epoch (feed-position.ts), and `admin new-epoch` begins a new one explicitly.
 */

/** The epoch that this moment is in, begun now if the last one was on another server. Call it under the relay's lock. */
export async function currentEpoch(transaction: Database): Promise<number> {
  const [last] = await selectLast(transaction, {});
  return last?.continues ? last.epoch : beginEpoch(transaction);
}

/** Begins another epoch. Numbered by time, so that two restores of one backup do not share one. */
export async function beginEpoch(database: Database): Promise<number> {
  const [begun] = await insert(database, {});
  if (!begun) throw new Error('no epoch was begun');
  return begun.epoch;
}

const selectLast = statement('events.epoch', () =>
  build
    .selectFrom('epoch')
    .select(['epoch', sql<boolean>`server = server_history()`.as('continues')])
    .orderBy('epoch', 'desc')
    .limit(1),
);

// Epoch 0 is that of a new database, in which nobody has read anything.
const insert = statement(
  'events.beginEpoch',
  () => sql<{ epoch: number }>`
    insert into epoch (epoch, server, inherited)
    select greatest(floor(extract(epoch from clock_timestamp()) * 1000)::bigint, last.epoch + 1), server_history(),
      case when last.epoch > 0 then (select event_id from outbox order by event_id desc limit 1) end
    from (select epoch from epoch order by epoch desc limit 1) as last
    returning epoch`,
);
