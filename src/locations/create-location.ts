import { sql } from 'kysely';
import { data } from '../db/json.ts';
import { build, type Param } from '../db/statement.ts';
import { withCompleteHours } from '../hours/hours.ts';
import { forbidden } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { created } from '../http/reply.ts';
import { onConstraint } from '../records/constraints.ts';
import { change, type Written, write, written } from '../records/write.ts';
import { completeAddress } from './address.ts';
import { type Location, locationETag, locations } from './location.ts';

/**
 * Creates a location, in one statement with its event.
 * @throws 403 if the client is restricted to locations
 */
export async function createLocation(call: Call<'createLocation'>): Promise<Reply<'createLocation'>> {
  const { database, body, caller, requestId } = call;
  if (caller.locationIds) {
    throw forbidden('This client is limited to certain locations and cannot create new ones.');
  }
  const { hours } = withCompleteHours(body);
  const [row] = await insert(database, {
    account_id: caller.accountId,
    name: body.name.trim(),
    address: completeAddress(body.address ?? null),
    phone: body.phone ?? null,
    timezone: body.timezone,
    currency: body.currency,
    external_id: body.external_id ?? null,
    hours: hours ?? null,
    ...written(requestId),
  });
  if (!row) throw new Error('insert returned no row');
  return created(data(row.resource), { ETag: row.etag, Location: `/api/v1/locations/${row.id}` });
}

type NewLocation = { account_id: number } & Written &
  Pick<Location, 'name' | 'address' | 'phone' | 'timezone' | 'currency' | 'external_id' | 'hours'>;

const insert = onConstraint(
  write(
    'locations.createLocation',
    (p: Param<NewLocation>) =>
      build
        .insertInto('location')
        .values({
          account_id: p('account_id', 'bigint'),
          name: p('name', 'text'),
          address: sql<string | null>`${p('address', 'jsonb')}`,
          phone: p('phone', 'text'),
          timezone: p('timezone', 'text'),
          currency: p('currency', 'text'),
          external_id: p('external_id', 'text'),
          hours: sql<string | null>`${p('hours', 'jsonb')}`,
        })
        .returning([
          ...change(locations, 'location.created'),
          'location_id as id',
          locationETag('new').as('etag'),
        ]),
    ['id', 'etag', 'resource'],
  ),
  locations.constraints,
);
