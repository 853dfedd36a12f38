import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import { columns, type Json, jsonObject, rfc3339, spacedDateTime } from '../db/json.ts';
import { shownHours } from '../hours/hours.ts';
import type { Caller } from '../http/caller.ts';
import { stamped } from '../http/conditional.ts';
import { ApiError } from '../http/errors.ts';
import { externalIdTaken } from '../records/constraints.ts';
import { type Reach, reachOf } from '../records/reach.ts';
import { type RecordKind, requireRecord } from '../records/record-kind.ts';
import type { FieldTypes } from '../records/update.ts';

export type Location = components['schemas']['Location'];

/** Path of one location and who asks. */
export type LocationKey = { location_id: number } & Reach;

/** The key that the path of a request names, with what its caller may reach. */
export function locationKey({ location_id }: { location_id: number }, caller: Caller): LocationKey {
  return { location_id, ...reachOf(caller) };
}

/** What callers may say of a location: each field is a column, here with its SQL type. */
export const locationFields = {
  name: 'text',
  address: 'jsonb',
  phone: 'text',
  timezone: 'text',
  currency: 'text',
  external_id: 'text',
  hours: 'jsonb',
} as const satisfies FieldTypes<components['schemas']['LocationUpdate']>;

/** The fields of a row of `location`. */
function shownLocation(row: string) {
  const location = columns('location', row);
  return {
    location_id: location.location_id,
    name: location.name,
    address: sql<Json<Location['address']>>`${location.address}`,
    phone: location.phone,
    timezone: location.timezone,
    currency: location.currency,
    external_id: location.external_id,
    hours: shownHours(location.hours),
    created: spacedDateTime(location.created_at),
    updated_at: rfc3339(location.updated_at),
    version: location.version,
  };
}

/** A row of `location` as the API shows it, built by the database. */
export function locationJson(row = 'location'): RawBuilder<Json<Location>> {
  return jsonObject<Location>(shownLocation(row));
}

/** Its ETag, quotes included. */
export function locationETag(row = 'location'): RawBuilder<string> {
  const { version, stamp } = columns('location', row);
  return sql`'"' || ${stamped(version, stamp)} || '"'`;
}

export const locations: RecordKind<LocationKey, Location> = {
  table: 'location',
  path: ['location_id'],
  json: locationJson,
  compared: shownLocation,
  eTag: locationETag,
  constraints: {
    location_external_id: externalIdTaken,
    menu_location: locationNotEmpty,
    modifier_group_location: locationNotEmpty,
  },
};

function locationNotEmpty(): ApiError {
  const detail = 'The location still has menus or modifier groups. Delete them first.';
  return new ApiError(409, 'Conflict', 'location_not_empty', detail);
}

/** @throws 404 or 403 when the caller finds no such location. */
export const requireLocation = requireRecord<LocationKey>('locations.requireLocation', locations);
