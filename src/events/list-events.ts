import { type RawBuilder, sql } from 'kysely';
import { type Reach, reachOf, withinReach } from '../records/reach.ts';
import type { Database } from '../db/database.ts';
import { build, statement } from '../db/statement.ts';
import { parameterError } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import type { Json } from '../db/json.ts';
import { page, readCursor } from '../http/pagination.ts';
import { ok } from '../http/reply.ts';
import { ofTypes, parseEventId, type WebhookPayload } from './event.ts';

/*
 * The feed goes by the transaction that wrote an event, then by sequence. Neither shows in order: a transaction may
 * commit after ones that began later. So the feed ends before the oldest transaction that is still under way; what is
 * listed is complete, and nothing can appear behind a position that a reader has passed.
 */

export async function listEvents(call: Call<'listEvents'>): Promise<Reply<'listEvents'>> {
  const { database, query, caller, url } = call;
  const reach = reachOf(caller);
  const { transaction_id, sequence } = await positionOf(database, query, reach);
  const limit = (query.limit ?? 100) + 1;
  const rows = await database
    .selectFrom('event')
    .select([
      sql<string>`transaction_id || '.' || sequence`.as('id'),
      sql<Json<WebhookPayload>>`payload`.as('resource'),
    ])
    .where('account_id', '=', reach.account_id)
    .where(sql<boolean>`(transaction_id, sequence) > (${transaction_id}::xid8, ${sequence}::bigint)`)
    .where(sql<boolean>`transaction_id < pg_snapshot_xmin(pg_current_snapshot())`)
    .where((eb) => eb.and(conditions(query, reach)))
    .orderBy('transaction_id')
    .orderBy('sequence')
    .limit(limit)
    .execute();
  const { body, headers } = page(rows, { limit }, url);
  return ok(body, headers);
}

function conditions(
  { type, location_id, menu_id }: Call<'listEvents'>['query'],
  { location_ids }: Reach,
): RawBuilder<boolean>[] {
  return [
    ...(location_ids ? [sql<boolean>`location_id = any (${location_ids})`] : []),
    ...(type ? [ofTypes(sql.ref('type'), type)] : []),
    ...(location_id ? [sql<boolean>`location_id = ${location_id}`] : []),
    ...(menu_id ? [sql<boolean>`menu_id = ${menu_id}`] : []),
  ];
}

interface Position {
  transaction_id: string;
  sequence: string;
}

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

const selectPosition = statement<{ event_id: string } & Reach, Position>((p) =>
  build
    .selectFrom('event')
    .select([
      sql<string>`transaction_id::text`.as('transaction_id'),
      sql<string>`sequence::text`.as('sequence'),
    ])
    .where('event_id', '=', p('event_id', 'uuid'))
    .where(withinReach(p, 'event')),
);
