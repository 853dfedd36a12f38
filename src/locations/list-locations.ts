import { build, filteredStatement } from '../db/statement.ts';
import type { Call, Reply } from '../http/handler.ts';
import { type ListRow, type PageRequest, pageRequest, pageResponse } from '../http/pagination.ts';
import { type Reach, reachOf, withinReach } from '../records/reach.ts';
import { isUpdatedSince } from '../records/updated-since.ts';
import { type Location, locationJson } from './location.ts';

/** A page of the locations that the caller may reach, by id. */
export async function listLocations(call: Call<'listLocations'>): Promise<Reply<'listLocations'>> {
  const { database, query, caller } = call;
  const wanted = pageRequest(query);
  const rows = await selectLocations(database, {
    ...wanted,
    ...reachOf(caller),
    updated_since: query.updated_since,
  });
  return pageResponse(rows, wanted, call);
}

type Values = PageRequest & Reach & { updated_since?: string | undefined };

const selectLocations = filteredStatement<Values, ListRow<Location>, 'updated_since'>(
  'locations.listLocations',
  ['updated_since'],
  (p, present) =>
    build
      .selectFrom('location')
      .select(['location_id as id', locationJson().as('resource')])
      .where(withinReach(p, 'location'))
      .where('location_id', '>', p('after', 'bigint'))
      .$if(present.includes('updated_since'), (locations) => locations.where(isUpdatedSince(p)))
      .orderBy('location_id')
      .limit(p('limit', 'bigint')),
);
