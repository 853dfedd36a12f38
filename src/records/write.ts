import { type AliasedRawBuilder, type Expression, type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import type { Param } from '../db/statement.ts';
import { type AnyJson, type Json, jsonObject, rfc3339 } from '../db/json.ts';

export type EventType = components['schemas']['EventType'];

/** One changed record, as the CTE that changed it returns it; column names and meaning. */
export interface Change {
  account_id: Expression<number>;
  location_id: Expression<number>;
  menu_id: Expression<number | null>;
  /** 'item:17'; events of one record keep their order. */
  record: Expression<string>;
  /** One event is recorded for each. */
  event_types: Expression<EventType[]>;
  /** The record as the API shows it now, or as it last did. */
  data: Expression<AnyJson>;
  /** Old values of the changed fields; null when the record is new or gone. */
  previous: Expression<AnyJson | null>;
}

/** The `previous` of a record that is new or gone. */
export const noPrevious = sql<null>`null::json`;

/** The columns of a `Change`, for the `returning` of the CTE. */
export function change(columns: Change): AliasedRawBuilder<unknown, keyof Change>[] {
  return Object.entries<Expression<unknown>>(columns as never).map(([name, value]) =>
    sql`${value}`.as(name as keyof Change),
  );
}

/**
 * The part of a write that records its events: a CTE over the CTE `changes`, so that a change and its
 * events are one statement and neither can be without the other.
 */
export function recordEvents(
  changes: string,
  p: Param<{ request_id: string | null }>,
): RawBuilder<Record<string, unknown>> {
  return sql`(
    insert into event (event_id, account_id, type, record, location_id, menu_id, payload)
    select event_id, account_id, event_type, record, location_id, menu_id, ${payload(p)}
    from (select uuidv7() as event_id, * from ${sql.table(changes)}, unnest(event_types) as event_type) as change)`;
}

// The bytes that are signed and sent are the bytes stored here.
function payload(p: Param<{ request_id: string | null }>): RawBuilder<AnyJson> {
  const field = <T>(name: string) => sql.ref<T>(`change.${name}`);
  return jsonObject<EventPayload>({
    id: sql<string>`event_id_text(${field('event_id')})`,
    type: field<EventType>('event_type'),
    timestamp: rfc3339(sql<Date>`clock_timestamp()`),
    location_id: field<number>('location_id'),
    menu_id: field<number | null>('menu_id'),
    data: field<Json<object>>('data'),
    previous: field<Json<object | null>>('previous'),
    request_id: p('request_id', 'text'),
  });
}

interface EventPayload {
  id: string;
  type: EventType;
  timestamp: string;
  location_id: number;
  menu_id: number | null;
  data: object;
  previous: object | null;
  request_id: string | null;
}
