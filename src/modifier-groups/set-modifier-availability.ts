import { sql } from 'kysely';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import { type LocationKey, locationKey, requireLocation } from '../locations/location.ts';
import {
  type AvailabilityValues,
  availabilityWrite,
  resultsOf,
  rowsOf,
} from '../records/availability-rows.ts';
import { requireSense } from '../records/named-rows.ts';
import { written } from '../records/write.ts';
import { type Modifier, switchedModifiers } from './modifier.ts';
import { withReturns } from './planned-return.ts';

/** Sets the availability of modifiers in every group of a location, in one statement with its events. */
export async function setModifierAvailability(
  call: Call<'setModifierAvailability'>,
): Promise<Reply<'setModifierAvailability'>> {
  const { database, params, body, caller, requestId } = call;
  requireSense(switchedModifiers, body.modifiers);
  const key = locationKey(params, caller);
  const rows = await withReturns(database, key, body.modifiers, (place) => `/modifiers/${place}`);
  const found = await set(database, {
    ...key,
    ...rowsOf('modifier', rows),
    returned_ids: [],
    returned_untils: [],
    client_id: caller.clientId,
    ...written(requestId),
  });
  const results = resultsOf(switchedModifiers, found);
  if (found.every(({ outcome }) => outcome === 'not_found')) await requireLocation(database, key);
  return ok(results);
}

const set = availabilityWrite<LocationKey & AvailabilityValues, 'modifier', Modifier>(
  'modifierGroups.setModifierAvailability',
  switchedModifiers,
  {
    contains: (p, row) => sql`${sql.ref(`${row}.location_id`)} = ${p('location_id', 'bigint')}`,
    through: 'modifier',
  },
);
