import { sql } from 'kysely';
import { reachOf, withinReach } from '../records/reach.ts';
import { differs, type FieldTypes, nextValues, type Patch, patchOf, settlePatch } from '../records/update.ts';
import { build, statement } from '../db/statement.ts';
import { recordEvents } from '../records/write.ts';
import { acceptedTags, tagMatches } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { data, type Json } from '../db/json.ts';
import { ok } from '../http/reply.ts';
import { completeAddress } from './address.ts';
import {
  changedLocation,
  type Location,
  type LocationKey,
  locationJson,
  locationTag,
  requireLocation,
} from './location.ts';

type Body = Call<'updateLocation'>['body'];

/** Changes the fields present in the body, in one statement with its event. */
export async function updateLocation(call: Call<'updateLocation'>): Promise<Reply<'updateLocation'>> {
  const { database, params, body, caller, headers, requestId, eventCommitted } = call;
  const values = {
    ...params,
    ...reachOf(caller),
    ...patchOf(fieldTypes, body),
    address: completeAddress(body.address ?? null),
    if_match: acceptedTags(headers['if-match']),
    request_id: requestId,
  };
  const row = await settlePatch(values.if_match, {
    update: () => update(database, values),
    selectCurrent: () => selectCurrent(database, values),
    requireRecord: () => requireLocation(database, params.location_id, caller),
    eventCommitted,
  });
  return ok(data(row.location), { ETag: row.etag });
}

const fieldTypes: FieldTypes<Body> = {
  name: 'text',
  address: 'jsonb',
  phone: 'text',
  timezone: 'text',
  currency: 'text',
  external_id: 'text',
};

type Values = LocationKey & Patch<Body> & { if_match: string[] | null; request_id: string };
type Row = { etag: string; location: Json<Location> };

const update = statement<Values, Row>((p) => {
  const next = nextValues<Body>('location', fieldTypes, p);
  return build
    .with('changed', (db) =>
      db
        .updateTable('location')
        .set({ ...next, version: sql`location.version + 1`, updated_at: sql`clock_timestamp()` })
        .where('location_id', '=', p('location_id', 'bigint'))
        .where(withinReach(p, 'location'))
        .where(tagMatches(p, locationTag()))
        .where(differs('location', next))
        .returning([
          ...changedLocation(
            sql`array['location.updated']`,
            sql`changed_fields(${locationJson('old')}, ${locationJson('new')})`,
          ),
          locationTag('new').as('etag'),
        ]),
    )
    .with('recorded', () => recordEvents('changed', p))
    .selectFrom('changed')
    .select(['etag', sql<Json<Location>>`data`.as('location')]);
});

const selectCurrent = statement<Values, Row & { differs: boolean }>((p) =>
  build
    .selectFrom('location')
    .select([
      locationTag().as('etag'),
      locationJson().as('location'),
      differs('location', nextValues<Body>('location', fieldTypes, p)).as('differs'),
    ])
    .where('location_id', '=', p('location_id', 'bigint'))
    .where(withinReach(p, 'location')),
);
