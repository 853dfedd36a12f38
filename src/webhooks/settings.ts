import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { type FieldError, parameterError } from '../http/errors.ts';
import { type Reach, withinReach } from '../records/reach.ts';
import type { Destination } from './delivery/destination.ts';

/** The settings of a webhook that a schema cannot judge; absent ones are not looked at. */
export interface Settings {
  url?: string;
  location_ids?: number[];
  menu_ids?: number[];
}

/**
 * @param reach the limits of the webhook's events.
 * @throws 422 naming every location and menu outside the reach, and the error in the address, if any.
 */
export async function requireUsable(
  database: Database,
  destination: Destination,
  { url, location_ids = [], menu_ids = [] }: Settings,
  reach: Reach,
): Promise<void> {
  const errors = await foreignIds(database, {
    ...reach,
    wanted_locations: location_ids,
    wanted_menus: menu_ids,
  });
  const error = url === undefined ? null : await checkUrl(database, destination, url);
  if (error) errors.push({ field: '/url', ...error });
  if (errors.length > 0) throw parameterError(errors);
}

let holding = 0;
const mostHolding = 4;

/** Name servers may be slow, and a transaction holds a connection meanwhile: few do, the others ask none. */
async function checkUrl(database: Database, destination: Destination, url: string) {
  if (!database.isTransaction) return destination.check(url);
  const looksUp = holding < mostHolding;
  holding += 1;
  try {
    return await destination.check(url, { looksUp });
  } finally {
    holding -= 1;
  }
}

type Wanted = Reach & { wanted_locations: number[]; wanted_menus: number[] };

/** Ids that the caller cannot filter by; whether they exist elsewhere is not revealed. */
async function foreignIds(database: Database, wanted: Wanted): Promise<FieldError[]> {
  if (wanted.wanted_locations.length + wanted.wanted_menus.length === 0) return [];
  const [found] = await selectKnown(database, wanted);
  const missing = (field: string, ids: number[], known: number[] = []) =>
    ids.flatMap((id, index) =>
      known.includes(id)
        ? []
        : [{ field: `/${field}/${index}`, code: 'not_found', message: 'is not accessible' }],
    );
  return [
    ...missing('location_ids', wanted.wanted_locations, found?.locations),
    ...missing('menu_ids', wanted.wanted_menus, found?.menus),
  ];
}

const selectKnown = statement('webhooks.knownIds', (p: Param<Wanted>) =>
  build.selectNoFrom([
    sql<number[]>`array(select location_id::float8 from location
      where location_id = any (${p('wanted_locations', 'bigint[]')}) and ${withinReach(p, 'location')})`.as(
      'locations',
    ),
    sql<number[]>`array(select menu_id::float8 from menu
      where menu_id = any (${p('wanted_menus', 'bigint[]')}) and ${withinReach(p, 'menu')})`.as('menus'),
  ]),
);
