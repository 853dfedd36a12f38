/*
 * Changes of modifier groups, except of availability. Whether such a change is valid depends on more than one record:
 * how many groups there are, the rules of a group and the quantities of its modifiers, the groups within a group. So
 * the changes of one location are serialized by the row of the location. Whoever changes uses, and thus which menus
 * show a group, locks all groups of the location, in one order. Changes of availability are not serialized.
 */
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { notFound } from '../http/errors.ts';

interface Place {
  account_id: number;
  location_id: number;
}

/**
 * Waits until it is the only change at this location.
 * @throws 404 when the account has no such location.
 * @returns the currency of the location, which cannot change until the commit.
 */
export async function takeTurn(transaction: Database, place: Place): Promise<string> {
  const [location] = await lockLocation(transaction, place);
  if (!location) throw notFound('There is no such location.');
  return location.currency;
}

/** Holds every modifier group of the location. */
export async function lockGroups(transaction: Database, place: Place): Promise<void> {
  await lockAll(transaction, place);
}

/** Holds the modifiers of these groups, which comes before their groups. */
export const lockModifiers = statement(
  'modifierGroups.lockModifiers',
  (p: Param<Place & { groups: number[] }>) =>
    build
      .selectFrom('modifier')
      .select('modifier_id')
      .where('account_id', '=', p('account_id', 'bigint'))
      .where('location_id', '=', p('location_id', 'bigint'))
      .where(sql<boolean>`modifier_group_id = any (${p('groups', 'bigint[]')})`)
      .orderBy('modifier_id')
      .forUpdate(),
);

const lockLocation = statement('modifierGroups.takeTurn', (p: Param<Place>) =>
  build
    .selectFrom('location')
    .select('currency')
    .where('location_id', '=', p('location_id', 'bigint'))
    .where('account_id', '=', p('account_id', 'bigint'))
    .forNoKeyUpdate(),
);

const lockAll = statement('modifierGroups.lockGroups', (p: Param<Place>) =>
  build
    .selectFrom('modifier_group')
    .select('modifier_group_id')
    .where('account_id', '=', p('account_id', 'bigint'))
    .where('location_id', '=', p('location_id', 'bigint'))
    .orderBy('modifier_group_id')
    .forNoKeyUpdate(),
);
