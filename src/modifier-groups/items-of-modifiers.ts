import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { type Param, statement } from '../db/statement.ts';
import { parameterError } from '../http/errors.ts';

interface Wanted {
  account_id: number;
  location_id: number;
  items: number[];
}

/** Which of these are no items of the location: a modifier cannot stand for them. */
export async function missingItems(
  database: Database,
  { account_id, location_id }: Pick<Wanted, 'account_id' | 'location_id'>,
  items: number[],
): Promise<Set<number>> {
  if (items.length === 0) return new Set();
  const rows = await select(database, { account_id, location_id, items });
  return new Set(rows.map(({ item_id }) => item_id));
}

/** @throws 422 when there is no such item at the location. */
export async function requireItemOf(
  database: Database,
  place: Pick<Wanted, 'account_id' | 'location_id'>,
  item_id: number | null | undefined,
): Promise<void> {
  if (item_id == null || (await missingItems(database, place, [item_id])).size === 0) return;
  throw parameterError([
    { field: '/item_id', code: 'not_found', message: 'is not an item of this location' },
  ]);
}

const select = statement(
  'modifierGroups.missingItems',
  (p: Param<Wanted>) => sql<{ item_id: number }>`
    select wanted.item_id from unnest(${p('items', 'bigint[]')}) as wanted (item_id)
    where not exists (
      select from item where item.item_id = wanted.item_id and item.account_id = ${p('account_id', 'bigint')}
        and item.location_id = ${p('location_id', 'bigint')})`,
);
