import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import { columns, created, type Json, jsonObject, rfc3339 } from '../http/json.ts';

export type Location = components['schemas']['Location'];

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
