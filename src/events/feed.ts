import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { type Param, statement } from '../db/statement.ts';
import { currentEpoch } from './epoch.ts';

/** An event that waits in the outbox. */
export interface WaitingEvent {
  sequence: number;
  account_id: number;
  event_id: string;
}

/** The least and the greatest of some ids of events: where a statement names them, it opens the partitions between. */
export interface Span {
  first_id: string;
  last_id: string;
}

/** @param events at least one. */
export function spanOf(events: readonly { event_id: string }[]): Span {
  const ids = events.map(({ event_id }) => event_id).sort();
  return { first_id: ids.at(0) as string, last_id: ids.at(-1) as string };
}

/**
 * Gives committed events their positions in the feeds of their accounts, in the order of the outbox, and removes them
 * from it. Only one caller at a time may run it, in a transaction that holds the relay's lock: numbered events become
 * visible to readers all at once, after everything that they have seen.
 */
export async function enterFeed(transaction: Database, events: readonly WaitingEvent[]): Promise<void> {
  await enter(transaction, {
    epoch: await currentEpoch(transaction),
    sequences: events.map(({ sequence }) => sequence),
    account_ids: events.map(({ account_id }) => account_id),
    ...spanOf(events),
  });
}

// Both columns of a key, since by one alone the planner cannot know that it finds a single row.
const enter = statement(
  'events.enterFeed',
  (p: Param<Span & { epoch: number; sequences: number[]; account_ids: number[] }>) => sql<object>`
    with taken as (
      delete from outbox
      using unnest(${p('sequences', 'bigint[]')}, ${p('account_ids', 'bigint[]')}) as chosen (sequence, account_id)
      where outbox.sequence = chosen.sequence and outbox.account_id = chosen.account_id
      returning outbox.sequence, outbox.account_id, outbox.event_id
    ),
    numbered as (
      select *, row_number() over (partition by account_id order by sequence desc) - 1 as behind from taken
    ),
    ended as (
      insert into account_feed (account_id, epoch, position, event_id)
      select account_id, ${p('epoch', 'bigint')}, count(*), (array_agg(event_id order by sequence desc))[1]
      from taken group by account_id order by account_id
      on conflict (account_id) do update
        set epoch = excluded.epoch, position = account_feed.position + excluded.position, event_id = excluded.event_id
      returning account_id, position
    )
    insert into feed (account_id, epoch, position, event_id, type, record, location_id, menu_id)
    select account_id, ${p('epoch', 'bigint')}, ended.position - behind, event_id, type, record, location_id, menu_id
    from numbered join ended using (account_id) join event using (event_id, account_id)
    where event.event_id between ${p('first_id', 'uuid')} and ${p('last_id', 'uuid')}
    order by sequence`,
);
