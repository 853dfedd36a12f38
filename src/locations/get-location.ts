import { reachOf, requireReach, withinReach } from '../records/reach.ts';
import { build, statement } from '../db/statement.ts';
import { isCurrent } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { data, type Json } from '../db/json.ts';
import { notModified, ok } from '../http/reply.ts';
import { type Location, type LocationKey, locationJson, locationTag } from './location.ts';

export async function getLocation({
  database,
  params,
  caller,
  headers,
}: Call<'getLocation'>): Promise<Reply<'getLocation'>> {
  const [found] = await selectLocation(database, { ...params, ...reachOf(caller) });
  const row = requireReach(found, 'location');
  if (isCurrent(headers['if-none-match'], row.etag)) return notModified(row.etag);
  return ok(data(row.location), { ETag: row.etag });
}

const selectLocation = statement<
  LocationKey,
  { within_reach: boolean; etag: string; location: Json<Location> }
>((p) =>
  build
    .selectFrom('location')
    .select([
      withinReach(p, 'location').as('within_reach'),
      locationTag().as('etag'),
      locationJson().as('location'),
    ])
    .where('location_id', '=', p('location_id', 'bigint')),
);
