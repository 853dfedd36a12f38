import { data } from '../db/json.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { isCurrent } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { notModified, ok } from '../http/reply.ts';
import { requireReach, withinReach } from '../records/reach.ts';
import { isAtPath } from '../records/record-kind.ts';
import { type LocationKey, locationETag, locationJson, locationKey, locations } from './location.ts';

/** One location, or 304 if the client has it. @throws 404 or 403 */
export async function getLocation({
  database,
  params,
  caller,
  headers,
}: Call<'getLocation'>): Promise<Reply<'getLocation'>> {
  const [found] = await selectLocation(database, locationKey(params, caller));
  const row = requireReach(found, 'location');
  if (isCurrent(headers['if-none-match'], row.etag)) return notModified(row.etag);
  return ok(data(row.resource), { ETag: row.etag });
}

const selectLocation = statement('locations.getLocation', (p: Param<LocationKey>) =>
  build
    .selectFrom('location')
    .select([
      withinReach(p, 'location').as('within_reach'),
      locationETag().as('etag'),
      locationJson().as('resource'),
    ])
    .where(isAtPath(locations, p)),
);
