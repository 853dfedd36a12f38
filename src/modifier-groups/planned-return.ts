/*
 * When a modifier comes back that is restored by hours: by those of its location, as its menus share it. A moment,
 * worked out before the write from the hours as they are then.
 */
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { AnyJson } from '../db/json.ts';
import { type Param, statement } from '../db/statement.ts';
import { noOpening, type Restore, returnOf } from '../hours/restore.ts';
import { type FieldError, parameterError } from '../http/errors.ts';
import { type LocationKey, locations } from '../locations/location.ts';
import { isReachable } from '../records/record-kind.ts';

type Restoring = { restore?: Restore };
type Returning<Body> = Omit<Body, 'restore'> & { unavailable_until?: string | null };

/**
 * An update with the moment of return in place of `restore`; without that, as it is.
 * @throws 422 when there is no next opening
 */
export async function withReturn<Body extends Restoring>(
  database: Database,
  key: LocationKey,
  body: Body,
): Promise<Returning<Body>> {
  const [returning] = await withReturns(database, key, [body], () => '');
  return returning as Returning<Body>;
}

/**
 * The same of several at once.
 * @param pointerTo leads to the body at this place
 */
export async function withReturns<Body extends Restoring>(
  database: Database,
  key: LocationKey,
  bodies: readonly Body[],
  pointerTo: (place: number) => string,
): Promise<Returning<Body>[]> {
  if (bodies.every(({ restore }) => !restore)) return [...bodies];
  const [found] = await selectHours(database, key);
  const rules = found && { ...found, levels: JSON.parse(found.levels) };
  const asked = new Set(bodies.flatMap(({ restore }) => restore ?? []));
  // Without a location the write itself says why there is none.
  const moments = new Map([...asked].map((restore) => [restore, rules ? returnOf(restore, rules) : null]));
  const errors: FieldError[] = [];
  const returning = bodies.map(({ restore, ...rest }, place) => {
    if (!restore) return rest;
    const moment = moments.get(restore) ?? null;
    if (rules && moment === null) errors.push(noOpening(`${pointerTo(place)}/restore`));
    return { ...rest, unavailable_until: moment };
  });
  if (errors.length > 0) throw parameterError(errors);
  return returning;
}

interface HoursOfLocation {
  timezone: string;
  levels: AnyJson;
  /** Unix milliseconds. */
  now: number;
}

const selectHours = statement(
  'modifierGroups.restore.hours',
  (p: Param<LocationKey>) => sql<HoursOfLocation>`
    select timezone, json_build_array(hours) as levels, floor(extract(epoch from now()) * 1000) as now
    from location
    where ${isReachable(locations, p)}`,
);
