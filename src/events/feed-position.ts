import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { type Param, statement } from '../db/statement.ts';
import { parameterError } from '../http/errors.ts';
import { readCursor, writeCursor } from '../http/pagination.ts';
import { type Reach, withinReach } from '../records/reach.ts';
import { parseEventId } from './event.ts';

/*
 * The position of a reader in the feed. Positions increase within an epoch, and every epoch comes after the previous
 * ones: a reader of events that were lost with their epoch continues with all events of the next one. A cursor also
 * contains the event at its position. If another event is there, or none, the reader comes from an unknown history
 * and gets all events that are kept. Repeats are allowed, gaps are not.
 */

export interface Position {
  epoch: number;
  position: number;
}

/** Before all that is kept. */
const start: Position = { epoch: 0, position: 0 };

/** The position of an event, or of the end of an empty feed, as a cursor. */
export function cursorAt({ epoch, position, event_id }: Position & { event_id: string | null }): string {
  return writeCursor(`${epoch}.${position}.${event_id?.replaceAll('-', '') ?? noEvent}`);
}

const noEvent = '0'.repeat(32);

/**
 * The position from which to continue after a cursor.
 * @throws 422 if it is not a cursor, or if events after it are no longer kept.
 */
export async function positionOfCursor(
  database: Database,
  cursor: string,
  account_id: number,
): Promise<Position> {
  const text = readCursor(cursor, /^\d{1,15}\.\d{1,15}\.[0-9a-f]{32}$/);
  const [epoch, position, event_id = noEvent] = text.split('.');
  const at = { epoch: Number(epoch), position: Number(position) };
  const [found] = await select(database, { account_id, event_id, ...at });
  if (!found) throw new Error('no position was looked up');
  if (found.is_removed) throw gone('cursor', 'expired');
  if (found.is_ours) return at;
  if (found.is_newer_removed) throw gone('cursor', 'expired');
  return found.is_past ? at : start;
}

interface Found {
  /** Whether an event behind this position is no longer kept. */
  is_removed: boolean;
  /** Whether the cursor's event is at its position, or was and is the last that is no longer kept. */
  is_ours: boolean;
  /** Whether an event is no longer kept that came after the cursor's, by their ids. */
  is_newer_removed: boolean;
  /** Whether the position is after everything that its epoch has here, and that epoch has ended. */
  is_past: boolean;
}

/*
 * The reader may have seen other events in this epoch than it has here: a disk that was put back continues in the
 * same epoch. Then the last of its events here is newer than the event of the cursor, which was lost.
 */
const select = statement(
  'events.positionOfCursor',
  (p: Param<Position & { account_id: number; event_id: string }>) => {
    const at = sql`(${p('epoch', 'bigint')}, ${p('position', 'bigint')})`;
    const event_id = p('event_id', 'uuid');
    return sql<Found>`
    select coalesce(${at} < (removed_epoch, removed_position), false) as is_removed,
      coalesce(feed.event_id, case when ${at} = (removed_epoch, removed_position) then removed_event_id end)
        is not distinct from ${event_id} as is_ours,
      coalesce(removed_event_id > ${event_id}, false) as is_newer_removed,
      case when feed.event_id is null then exists (select from epoch where epoch = ${p('epoch', 'bigint')})
        and coalesce((
          select event_id from feed where account_id = own.account_id and epoch = ${p('epoch', 'bigint')}
          order by position desc limit 1
        ) < ${event_id}, true)
        and (
          select epoch > ${p('epoch', 'bigint')} or server is distinct from server_history()
          from epoch order by epoch desc limit 1
        )
      else false end as is_past
    from (values (${p('account_id', 'bigint')})) as own (account_id)
    left join account_feed using (account_id)
    left join feed on feed.account_id = own.account_id and (feed.epoch, feed.position) = ${at}`;
  },
);

/**
 * The position from which to continue after an event: right behind it, or at the start of all that is kept if the
 * event is from an unknown history or was the last that retention removed. If its epoch found the event in the
 * outbox, the previous history may have listed events after it that now come before it; then at the start of the
 * epoch.
 * @throws 422 if it is another account's event, or if it was removed and others may have followed it.
 */
export async function positionOfEvent(database: Database, id: string, reach: Reach): Promise<Position> {
  const event_id = parseEventId(id);
  const [found] = event_id === undefined ? [] : await selectEvent(database, { event_id, ...reach });
  if (!found || found.is_removed) throw gone('after_event_id', 'not_found');
  const { within_reach, is_missing, is_inherited, epoch, position } = found;
  if (within_reach && epoch !== null && position !== null)
    return { epoch, position: is_inherited ? 0 : position };
  if (within_reach) return start;
  if (is_missing) return start;
  throw gone('after_event_id', 'not_found');
}

interface FoundEvent {
  within_reach: boolean;
  /** Null until the event is in the feed, as are those that a restored database had not relayed yet. */
  epoch: number | null;
  position: number | null;
  /** Whether the epoch found the event in the outbox. */
  is_inherited: boolean;
  /** Whether an event behind it is no longer kept. */
  is_removed: boolean;
  /** Whether no event that was here has this id, though one could have it that is not removed. */
  is_missing: boolean;
}

const selectEvent = statement(
  'events.positionOfEvent',
  (p: Param<{ event_id: string } & Reach>) => sql<FoundEvent>`
    select coalesce(${withinReach(p, 'event')}, false) as within_reach, feed.epoch, feed.position,
      coalesce((
        select feed.event_id <= inherited from epoch where epoch.epoch = feed.epoch
      ), false) as is_inherited,
      coalesce((feed.epoch, feed.position) < (removed_epoch, removed_position), false) as is_removed,
      event.event_id is null and ${p('event_id', 'uuid')} >= event_id_at(account.created_at)
        and coalesce(${p('event_id', 'uuid')} >= removed_event_id, true) as is_missing
    from account
    left join account_feed using (account_id)
    left join event on event.event_id = ${p('event_id', 'uuid')}
    left join feed on feed.event_id = ${p('event_id', 'uuid')}
      and feed.event_id = event.event_id and feed.account_id = event.account_id
    where account.account_id = ${p('account_id', 'bigint')}`,
);

function gone(field: string, code: string) {
  return parameterError([{ field, code, message: 'does not exist or is no longer kept' }]);
}
