import { sql } from 'kysely';
import { build, statement } from '../db/statement.ts';
import { recordEvents } from '../records/write.ts';
import { forbidden } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { data, type Json } from '../db/json.ts';
import { created } from '../http/reply.ts';
import { completeAddress } from './address.ts';
import { changedLocation, type Location, locationTag } from './location.ts';

export async function createLocation(call: Call<'createLocation'>): Promise<Reply<'createLocation'>> {
  const { database, body, caller, requestId, eventCommitted } = call;
  if (caller.locationIds) {
    throw forbidden('This client may act on certain locations only, so it cannot make new ones.');
  }
  const [row] = await insert(database, {
    account_id: caller.accountId,
    name: body.name.trim(),
    address: completeAddress(body.address ?? null),
    phone: body.phone ?? null,
    timezone: body.timezone,
    currency: body.currency,
    external_id: body.external_id ?? null,
    request_id: requestId,
  });
  if (!row) throw new Error('insert returned no row');
  eventCommitted();
  return created(data(row.location), { ETag: row.etag, Location: `/api/v1/locations/${row.location_id}` });
}

interface NewLocation {
  account_id: number;
  name: string;
  address: Location['address'];
  phone: string | null;
  timezone: string;
  currency: string;
  external_id: string | null;
  request_id: string;
}

const insert = statement<NewLocation, { location_id: number; etag: string; location: Json<Location> }>((p) =>
  build
    .with('changed', (db) =>
      db
        .insertInto('location')
        .values({
          account_id: p('account_id', 'bigint'),
          name: p('name', 'text'),
          address: sql<string | null>`${p('address', 'jsonb')}`,
          phone: p('phone', 'text'),
          timezone: p('timezone', 'text'),
          currency: p('currency', 'text'),
          external_id: p('external_id', 'text'),
        })
        .returning([...changedLocation(sql`array['location.created']`), locationTag().as('etag')]),
    )
    .with('recorded', () => recordEvents('changed', p))
    .selectFrom('changed')
    .select([sql<number>`location_id`.as('location_id'), 'etag', sql<Json<Location>>`data`.as('location')]),
);
