import { sql } from 'kysely';
import { reachOf, withinReach } from '../records/reach.ts';
import { build, statement } from '../db/statement.ts';
import { recordEvents } from '../records/write.ts';
import { acceptedTags, tagMatches } from '../http/conditional.ts';
import { preconditionFailed } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { noContent } from '../http/reply.ts';
import { changedLocation, type LocationKey, locationTag, requireLocation } from './location.ts';

/** The foreign key of its menus refuses a location that has some, also one that is being made: 409. */
export async function deleteLocation(call: Call<'deleteLocation'>): Promise<Reply<'deleteLocation'>> {
  const { database, params, caller, headers, requestId, eventCommitted } = call;
  const [deleted] = await deleteRow(database, {
    ...params,
    ...reachOf(caller),
    if_match: acceptedTags(headers['if-match']),
    request_id: requestId,
  });
  if (!deleted) {
    await requireLocation(database, params.location_id, caller);
    throw preconditionFailed();
  }
  eventCommitted();
  return noContent();
}

const deleteRow = statement<
  LocationKey & { if_match: string[] | null; request_id: string },
  { record: unknown }
>((p) =>
  build
    .with('changed', (db) =>
      db
        .deleteFrom('location')
        .where('location_id', '=', p('location_id', 'bigint'))
        .where(withinReach(p, 'location'))
        .where(tagMatches(p, locationTag()))
        .returning(changedLocation(sql`array['location.deleted']`, undefined, 'old')),
    )
    .with('recorded', () => recordEvents('changed', p))
    .selectFrom('changed')
    .select('record'),
);
