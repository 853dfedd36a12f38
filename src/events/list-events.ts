import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Json } from '../db/json.ts';
import { build, filteredStatement, type Param, statement } from '../db/statement.ts';
import { parameterError } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { type ListRow, page, readCursor } from '../http/pagination.ts';
import { ok } from '../http/reply.ts';
import { type Reach, reachOf, withinReach } from '../records/reach.ts';
import { ofTypes, parseEventId, type WebhookPayload } from './event.ts';

/*
 * The feed goes by the transaction that wrote an event, then by sequence. Neither shows in order: a transaction may
 * commit after ones that began later. So the feed ends before the oldest transaction that is still under way; what is
 * listed is complete, and nothing can appear behind a position that a reader has passed.
 */

export async function listEvents(call: Call<'listEvents'>): Promise<Reply<'listEvents'>> {
  const { database, query, caller, url } = call;
  const reach = reachOf(caller);
  const position = await positionOf(database, query, reach);
  const { type, location_id, menu_id } = query;
  const limit = (query.limit ?? 100) + 1;
  const rows = await selectEvents(database, {
    account_id: reach.account_id,
    granted: reach.location_ids ?? undefined,
    type,
    location_id,
    menu_id,
    ...position,
    limit,
  });
  const { body, headers } = page(rows, { limit }, url);
  return ok(body, headers);
}

interface Position {
  transaction_id: string;
  sequence: string;
}

interface Filters {
  /** The locations that the caller may act on; absent: all. */
  granted?: number[] | undefined;
  type?: string[] | undefined;
  location_id?: number | undefined;
  menu_id?: number | undefined;
}

type Values = Position & Filters & { account_id: number; limit: number };

const conditions: Record<keyof Filters, (p: Param<Required<Values>>) => RawBuilder<boolean>> = {
  granted: (p) => sql`location_id = any (${p('granted', 'bigint[]')})`,
  type: (p) => ofTypes(sql.ref('type'), p('type', 'text[]')),
  location_id: (p) => sql`location_id = ${p('location_id', 'bigint')}`,
  menu_id: (p) => sql`menu_id = ${p('menu_id', 'bigint')}`,
};

const selectEvents = filteredStatement<Values, ListRow<WebhookPayload>, keyof Filters>(
  'events.listEvents',
  ['granted', 'type', 'location_id', 'menu_id'],
  (p, present) => {
    const position = sql`(${p('transaction_id', 'xid8')}, ${p('sequence', 'bigint')})`;
    return build
      .selectFrom('event')
      .select([
        sql<string>`transaction_id || '.' || sequence`.as('id'),
        sql<Json<WebhookPayload>>`payload`.as('resource'),
      ])
      .where('account_id', '=', p('account_id', 'bigint'))
      .where(sql<boolean>`(transaction_id, sequence) > ${position}`)
      .where(sql<boolean>`transaction_id < pg_snapshot_xmin(pg_current_snapshot())`)
      .where((eb) => eb.and(present.map((filter) => conditions[filter](p))))
      .orderBy('transaction_id')
      .orderBy('sequence')
      .limit(p('limit', 'bigint'));
  },
);

async function positionOf(
  database: Database,
  { cursor, after_event_id }: Call<'listEvents'>['query'],
  reach: Reach,
): Promise<Position> {
  if (cursor !== undefined) {
    const [transaction_id = '', sequence = ''] = readCursor(cursor, /^\d{1,20}\.\d{1,19}$/).split('.');
    return { transaction_id, sequence };
  }
  if (after_event_id === undefined) return { transaction_id: '0', sequence: '0' };
  const event_id = parseEventId(after_event_id);
  const [found] = event_id === undefined ? [] : await selectPosition(database, { event_id, ...reach });
  if (!found)
    throw parameterError([
      { field: 'after_event_id', code: 'not_found', message: 'does not exist or is no longer kept' },
    ]);
  return found;
}

const selectPosition = statement('events.position', (p: Param<{ event_id: string } & Reach>) =>
  build
    .selectFrom('event')
    .select([
      sql<string>`transaction_id::text`.as('transaction_id'),
      sql<string>`sequence::text`.as('sequence'),
    ])
    .where('event_id', '=', p('event_id', 'uuid'))
    .where(withinReach(p, 'event')),
);
