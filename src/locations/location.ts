import { type Expression, type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import type { Caller } from '../accounts/caller.ts';
import { type Reach, reachOf, requireReach, withinReach } from '../records/reach.ts';
import type { Database } from '../db/database.ts';
import { build, statement } from '../db/statement.ts';
import { change, type EventType, noPrevious } from '../records/write.ts';
import { type AnyJson, columns, created, type Json, jsonObject, rfc3339 } from '../db/json.ts';

export type Location = components['schemas']['Location'];

/** Path of one location and who asks. */
export type LocationKey = { location_id: number } & Reach;

/** A row of `location` as the API shows it. */
export function locationJson(row = 'location'): RawBuilder<Json<Location>> {
  const location = columns('location', row);
  return jsonObject<Location>({
    location_id: location.location_id,
    name: location.name,
    address: sql<Json<Location['address']>>`${location.address}`,
    phone: location.phone,
    timezone: location.timezone,
    currency: location.currency,
    external_id: location.external_id,
    created: created(location.created_at),
    updated_at: rfc3339(location.updated_at),
    version: location.version,
  });
}

/** Its ETag, quotes included. */
export function locationTag(row = 'location'): RawBuilder<string> {
  return sql`'"' || ${columns('location', row).version} || '"'`;
}

/** What the CTE that writes locations returns for recordEvents; `row` is 'old' when it deletes. */
export function changedLocation(
  eventTypes: Expression<EventType[]>,
  previous: Expression<AnyJson | null> = noPrevious,
  row: 'new' | 'old' = 'new',
): ReturnType<typeof change> {
  const location = columns('location', row);
  return change({
    account_id: location.account_id,
    location_id: location.location_id,
    menu_id: sql<null>`null::bigint`,
    record: sql`'location:' || ${location.location_id}`,
    event_types: eventTypes,
    data: locationJson(row),
    previous,
  });
}

/** @throws 404 or 403 when the caller finds no such location. */
export async function requireLocation(
  database: Database,
  location_id: number,
  caller: Caller,
): Promise<void> {
  const [row] = await selectReach(database, { location_id, ...reachOf(caller) });
  requireReach(row, 'location');
}

const selectReach = statement<LocationKey, { within_reach: boolean }>((p) =>
  build
    .selectFrom('location')
    .select(withinReach(p, 'location').as('within_reach'))
    .where('location_id', '=', p('location_id', 'bigint')),
);
