import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { type Param, statement } from '../db/statement.ts';
import { parameterError } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import { locationKey, requireLocation } from '../locations/location.ts';
import {
  type AvailabilityValues,
  availabilityWrite,
  resultsOf,
  rowsOf,
  type Scope,
} from '../records/availability-rows.ts';
import { requireSense } from '../records/named-rows.ts';
import { type Reach, withinReach } from '../records/reach.ts';
import { written } from '../records/write.ts';
import { type Item, switchedItems } from './item.ts';
import { returnsIn } from './planned-return.ts';

/** Sets the availability of items on every menu of one or more locations, in one statement with its events. */
export async function setLocationAvailability(
  call: Call<'setLocationAvailability'>,
): Promise<Reply<'setLocationAvailability'>> {
  const { database, params, body, caller, requestId } = call;
  requireSense(switchedItems, body.items);
  const key = locationKey(params, caller);
  const { location_ids: others = [] } = body;
  if (others.length > 0) {
    await requireLocation(database, key);
    await requireLocations(database, { ...key, others });
  }
  const locations = [params.location_id, ...others];
  const found = await set(database, {
    ...key,
    locations,
    ...rowsOf('item', body.items),
    ...(await returnsOf(database, { ...key, locations }, body.items)),
    client_id: caller.clientId,
    ...written(requestId),
  });
  const results = resultsOf(switchedItems, found);
  if (found.every(({ outcome }) => outcome === 'not_found')) await requireLocation(database, key);
  return ok(results);
}

/** @throws 422, naming each location that does not exist or is out of reach. */
async function requireLocations(database: Database, values: Others): Promise<void> {
  const missing = await selectMissing(database, values);
  if (missing.length === 0) return;
  throw parameterError(
    missing.map(({ place }) => ({
      field: `/location_ids/${place}`,
      code: 'not_found',
      message: 'is not accessible',
    })),
  );
}

type Others = Reach & { others: number[] };

const selectMissing = statement(
  'items.setLocationAvailability.missing',
  (p: Param<Others>) => sql<{ place: number }>`
    select place::int - 1 as place
    from unnest(${p('others', 'bigint[]')}) with ordinality as wanted (location_id, place)
    where not exists (
      select from location where location.location_id = wanted.location_id and ${withinReach(p, 'location')}
    )
    order by place`,
);

type InLocations = Reach & { locations: number[] };

const inLocations: Scope<InLocations> = {
  contains: (p, row) => sql`${sql.ref(`${row}.location_id`)} = any (${p('locations', 'bigint[]')})`,
  inSeveralMenus: true,
};

const returnsOf = returnsIn('items.setLocationAvailability.hours', inLocations);
const set = availabilityWrite<InLocations & AvailabilityValues, 'item', Item>(
  'items.setLocationAvailability',
  switchedItems,
  inLocations,
);
