import { data } from '../db/json.ts';
import { withCompleteHours } from '../hours/hours.ts';
import { parameterError } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { created } from '../http/reply.ts';
import { creation } from '../records/create.ts';
import { type Reach, reachOf } from '../records/reach.ts';
import { written } from '../records/write.ts';
import { type Menu, menuFields, menus } from './menu.ts';

/**
 * Creates an empty menu at a location, in one statement with its event.
 * @throws 422 if there is no such location within the caller's reach
 */
export async function createMenu(call: Call<'createMenu'>): Promise<Reply<'createMenu'>> {
  const { database, body, caller, requestId } = call;
  const { hours } = withCompleteHours(body);
  const [menu] = await insert(database, {
    ...reachOf(caller),
    location_id: body.location_id,
    name: body.name.trim(),
    description: body.description ?? '',
    is_active: body.is_active ?? true,
    sort_order: body.sort_order ?? null,
    external_id: body.external_id ?? null,
    hours: hours ?? null,
    ...written(requestId),
  });
  // Whether the location exists elsewhere is not revealed.
  if (!menu) {
    throw parameterError([{ field: '/location_id', code: 'not_found', message: 'is not accessible' }]);
  }
  return created(data(menu.resource), { ETag: menu.etag, Location: `/api/v1/menus/${menu.id}` });
}

type LocationPath = Reach & { location_id: number };
type NewMenu = Pick<Menu, 'name' | 'description' | 'is_active' | 'external_id' | 'hours'> & {
  sort_order: number | null;
};

const insert = creation<LocationPath, NewMenu, Menu>(
  {
    name: 'menus.createMenu',
    kind: menus,
    parent: { table: 'location', path: ['location_id'], inherited: [], held: true },
    fields: menuFields,
  },
  { touchesMenu: false },
);
