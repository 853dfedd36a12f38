import { data } from '../db/json.ts';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import { partialUpdate } from '../records/update.ts';
import { completeAddress } from './address.ts';
import { locationFields, locationKey, locations, requireLocation } from './location.ts';

/** Changes the fields present in the body, in one statement with its event. */
export async function updateLocation(call: Call<'updateLocation'>): Promise<Reply<'updateLocation'>> {
  const { params, body, caller } = call;
  const { address } = body;
  const fields = address === undefined ? body : { ...body, address: completeAddress(address) };
  const { etag, resource } = await update(call, locationKey(params, caller), fields);
  return ok(data(resource), { ETag: etag });
}

const update = partialUpdate({
  name: 'locations.updateLocation',
  kind: locations,
  fields: locationFields,
  require: requireLocation,
  eventTypes: 'location.updated',
});
