import { build, type Param, statement } from '../db/statement.ts';
import type { Call, Reply } from '../http/handler.ts';
import { type PageRequest, page, pageRequest } from '../http/pagination.ts';
import { ok } from '../http/reply.ts';
import { type Reach, reachOf, withinReach } from '../records/reach.ts';
import { locationJson } from './location.ts';

export async function listLocations({
  database,
  query,
  caller,
  url,
}: Call<'listLocations'>): Promise<Reply<'listLocations'>> {
  const wanted = pageRequest(query);
  const rows = await selectLocations(database, { ...wanted, ...reachOf(caller) });
  const { body, headers } = page(rows, wanted, url);
  return ok(body, headers);
}

const selectLocations = statement('locations.listLocations', (p: Param<PageRequest & Reach>) =>
  build
    .selectFrom('location')
    .select(['location_id as id', locationJson().as('resource')])
    .where(withinReach(p, 'location'))
    .where('location_id', '>', p('after', 'bigint'))
    .orderBy('location_id')
    .limit(p('limit', 'bigint')),
);
