import type { Call, Reply } from '../http/handler.ts';
import { noContent } from '../http/reply.ts';
import { deletion } from '../records/delete.ts';
import { locationKey, locations, requireLocation } from './location.ts';

/** The foreign key of its menus refuses a location that has some, also one that is being created: 409. */
export async function deleteLocation(call: Call<'deleteLocation'>): Promise<Reply<'deleteLocation'>> {
  await deleteOne(call, locationKey(call.params, call.caller));
  return noContent();
}

const deleteOne = deletion({
  name: 'locations.deleteLocation',
  kind: locations,
  require: requireLocation,
});
