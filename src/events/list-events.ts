import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Json } from '../db/json.ts';
import { filteredStatement, type Param, statement } from '../db/statement.ts';
import type { Call, Reply } from '../http/handler.ts';
import { nextLink } from '../http/pagination.ts';
import { ok } from '../http/reply.ts';
import { reachOf } from '../records/reach.ts';
import { type EventList, toldPayload, typesNamed, type WebhookPayload } from './event.ts';
import { type Span, spanOf } from './feed.ts';
import { cursorAt, type Position, positionOfCursor, positionOfEvent } from './feed-position.ts';

/*
 * A page is read through an index that contains only what one filter selects: the menu, the location, or each type.
 * If other filters remain, it examines a bounded number of events and may find less than a page, or nothing. Each
 * page says where it ended, so that even a reader of rare events advances.
 */

const mostExamined = 5_000;
const mostListed = 200;

/**
 * A page of the event feed, oldest first, from a cursor or an event on.
 * @throws 422 if events after it are no longer kept
 */
export async function listEvents(call: Call<'listEvents'>): Promise<Reply<'listEvents'>> {
  // If retention removes events between the statements, the position to continue from is looked up once more.
  const page = (await readPage(call)) ?? (await readPage(call));
  if (!page) throw new Error('the feed lists events that are gone');
  return page;
}

/** A page of the events after the cursor; undefined if one of them was removed meanwhile. */
async function readPage(call: Call<'listEvents'>): Promise<Reply<'listEvents'> | undefined> {
  const { database, query, caller, url } = call;
  const reach = reachOf(caller);
  const { cursor, after_event_id, limit = 100 } = query;
  let from: Position = { epoch: 0, position: 0 };
  if (cursor !== undefined) from = await positionOfCursor(database, cursor, reach.account_id);
  else if (after_event_id !== undefined) from = await positionOfEvent(database, after_event_id, reach);
  const filters = { ...query, type: query.type && typesNamed(query.type), granted: reach.location_ids };
  const { account_id } = reach;
  const rows = await selectEvents(database, { ...narrowed(filters), account_id, ...from, limit: limit + 1 });
  const event_ids = rows.slice(0, Math.min(limit, rows.length - 1)).map(({ event_id }) => event_id as string);
  const payloads = await payloadsOf(database, account_id, event_ids);
  if (payloads.length < event_ids.length) return undefined;
  return pageOf(rows, limit, payloads, url);
}

interface Filters {
  type?: string[] | undefined;
  location_id?: number | undefined;
  menu_id?: number | undefined;
  /** The locations that the caller may act on; absent: all. */
  granted?: number[] | undefined;
}

/** A grant of one location is a filter by it. */
function narrowed({
  type,
  location_id,
  menu_id,
  granted,
}: Omit<Filters, 'granted'> & { granted: number[] | null }): Filters {
  const [only] = granted ?? [];
  if (granted?.length === 1 && (location_id ?? only) === only) return { type, menu_id, location_id: only };
  return { type, location_id, menu_id, granted: granted ?? undefined };
}

type Values = Position & Filters & { account_id: number; limit: number };

/** An event; or, behind them, how far this went. */
interface Row extends Position {
  /** Null in an empty feed. */
  event_id: string | null;
  /** Of the row behind the events: whether there may be more. */
  is_cut: boolean;
}

function pageOf(
  rows: Row[],
  limit: number,
  payloads: Json<WebhookPayload>[],
  url: string,
): Reply<'listEvents'> {
  const [end] = rows.slice(-1);
  const last = rows.length - 1 > limit ? rows[limit - 1] : end;
  if (!end || !last) throw new Error('the statement gave no end');
  const cursor = cursorAt(last);
  const hasMore = last !== end || end.is_cut;
  const next = JSON.stringify(hasMore ? cursor : null);
  const body = `{"data":[${payloads.join(',')}],"next_cursor":${next},"resume_cursor":"${cursor}"}`;
  return ok(body as Json<EventList>, hasMore ? nextLink(url, cursor) : {});
}

const conditions: Record<keyof Filters, (p: Param<Required<Values>>) => RawBuilder<boolean>> = {
  menu_id: (p) => sql`menu_id = ${p('menu_id', 'bigint')}`,
  location_id: (p) => sql`location_id = ${p('location_id', 'bigint')}`,
  type: (p) => sql`type = any (${p('type', 'text[]')})`,
  granted: (p) => sql`location_id = any (${p('granted', 'bigint[]')})`,
};

const filters = ['menu_id', 'location_id', 'type', 'granted'] as const;

const selectEvents = filteredStatement<Values, Row, keyof Filters>(
  'events.listEvents',
  filters,
  (p, present) => {
    const { stream, others } = streamOf(p, present);
    const most = others.length > 0 ? mostExamined : mostListed + 1;
    return sql<Row>`
      with examined as (select * from (${stream(most)}) as stream order by epoch, position limit ${most}),
      listed as (
        select epoch, position, event_id from examined where ${sql.join([sql`true`, ...others], sql` and `)}
        order by epoch, position limit ${p('limit', 'bigint')}
      )
      select epoch, position, event_id, false as is_cut, false as is_end from listed
      union all
      select coalesce(last.epoch, feed_end.epoch, 0), coalesce(last.position, feed_end.position, 0),
        coalesce(last.event_id, feed_end.event_id), is_cut, true
      from (select count(*) = ${most} as is_cut from examined) as examination
      left join (select * from examined order by epoch desc, position desc limit 1) as last on is_cut
      left join account_feed as feed_end on not is_cut and feed_end.account_id = ${p('account_id', 'bigint')}
      order by is_end, epoch, position`;
  },
);

/**
 * A separate statement, which knows the ids: it opens only the partitions between the first and the last of them.
 * @returns those that exist, in the order of the ids
 */
async function payloadsOf(
  database: Database,
  account_id: number,
  event_ids: string[],
): Promise<Json<WebhookPayload>[]> {
  if (event_ids.length === 0) return [];
  const span = spanOf(event_ids.map((event_id) => ({ event_id })));
  const rows = await selectPayloads(database, { account_id, event_ids, ...span });
  return rows.map(({ resource }) => resource);
}

const selectPayloads = statement(
  'events.listEvents.payloads',
  (p: Param<Span & { account_id: number; event_ids: string[] }>) => sql<{ resource: Json<WebhookPayload> }>`
    select ${toldPayload()} as resource
    from unnest(${p('event_ids', 'uuid[]')}) with ordinality as listed (event_id, place)
    join event using (event_id)
    where event.account_id = ${p('account_id', 'bigint')}
      and event.event_id between ${p('first_id', 'uuid')} and ${p('last_id', 'uuid')}
    order by place`,
);

interface Stream {
  /** The first of the events behind the position, as many as `most`, from an index that has them in order. */
  stream: (most: number) => RawBuilder<unknown>;
  /** What is still to be looked at in each of them. */
  others: RawBuilder<boolean>[];
}

function streamOf(p: Param<Required<Values>>, present: readonly (keyof Filters)[]): Stream {
  const own = sql`select epoch, position, event_id, type, location_id, menu_id from feed
    where account_id = ${p('account_id', 'bigint')}`;
  const at = sql`(${p('epoch', 'bigint')}, ${p('position', 'bigint')})`;
  // The epochs of a feed go up with its positions, so what is behind a position is so without its epoch.
  const inOrder = (condition: RawBuilder<unknown>) => (most: number) =>
    sql`${own} and ${condition}
    and position > coalesce((
      select seen.position from feed as seen
      where seen.account_id = ${p('account_id', 'bigint')} and (seen.epoch, seen.position) <= ${at}
      order by seen.epoch desc, seen.position desc limit 1
    ), 0)
    order by position limit ${most}`;
  const othersThan = (chosen?: keyof Filters) =>
    present.filter((filter) => filter !== chosen).map((filter) => conditions[filter](p));
  const single = (['menu_id', 'location_id'] as const).find((filter) => present.includes(filter));
  if (single) return { stream: inOrder(conditions[single](p)), others: othersThan(single) };
  if (present.length === 1 && present[0] === 'type') {
    const ofType = inOrder(sql`feed.type = wanted.type`);
    return {
      stream: (most) => sql`
        select one_type.* from unnest(${p('type', 'text[]')}) as wanted (type), lateral (${ofType(most)}) as one_type`,
      others: [],
    };
  }
  const all = (most: number) =>
    sql`${own} and (epoch, position) > ${at} order by epoch, position limit ${most}`;
  return { stream: all, others: othersThan() };
}
