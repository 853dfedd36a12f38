/*
 * Updates of items that share a statement, one for each item; see shared-in-menus.ts. Calls for the same item go into
 * successive statements.
 *
 * The statement locks the currencies that the prices depend on, and skips locations that another transaction has
 * locked. An update of a field with a constraint runs on its own: checking the constraint may have to wait for another
 * writer.
 */
import { sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import type { Database } from '../db/database.ts';
import type { Json } from '../db/json.ts';
import { type Calls, type Outcome, passedOver } from '../db/shared-statement.ts';
import type { Statement } from '../db/statement.ts';
import { heldCurrencies } from '../locations/currency.ts';
import type { Reach } from '../records/reach.ts';
import type { Switching } from '../records/switches.ts';
import { type Shown, type UpdateSpec, type UpdateValues, updateParts } from '../records/update.ts';
import { type Written, writeOf, written } from '../records/write.ts';
import { type Item, type ItemKey, itemFields } from './item.ts';
import {
  lockedInMenus,
  type MenuLocks,
  ofRow,
  sharedInMenus,
  tableOfCalls,
  touchCounted,
} from './shared-in-menus.ts';

type Body = Omit<components['schemas']['ItemUpdate'], 'restore'>;
type Call = UpdateValues<ItemKey & Switching, Body>;

const constrained: readonly string[] = ['category_id', 'external_id'];

/**
 * @param alone the update of a single item.
 * @returns the same for any number of calls at once. As with `alone`, no row means that the item was not updated.
 */
export function sharedUpdate(
  spec: UpdateSpec<ItemKey & Switching, Body, Item>,
  alone: Statement<Call, Shown<Item>>,
): Statement<Call, Shown<Item>> {
  const statements = {
    free: updateStatement('items.updateItems', spec, 'free'),
    awaited: updateStatement('items.updateItemsInMenu', spec, 'awaited'),
  };
  const update = sharedInMenus<Call, Shown<Item>>({
    alone,
    together: (locks, ...calls) => updateTogether(statements[locks], ...calls),
    changed: ({ item_id }) => [item_id],
  });
  return (database, call) =>
    (call.present.some((field) => constrained.includes(field)) ? alone : update)(database, call);
}

async function updateTogether(
  statement: Statement<Together, Updated>,
  database: Database,
  calls: Calls<Call>,
): Promise<Outcome<Shown<Item>[]>[]> {
  const [{ account_id, location_ids }] = calls;
  const updated = await statement(database, {
    account_id,
    location_ids,
    item_ids: calls.map(({ item_id }) => item_id),
    menu_ids: calls.map(({ menu_id }) => menu_id),
    calls: JSON.stringify(calls.map((call, place) => ({ ...call, place }))),
    ...written(null),
  });
  const byPlace = new Map(updated.map((one) => [one.place, one]));
  return calls.map((_, place) => {
    const { etag, resource } = byPlace.get(place) ?? {};
    if (etag === undefined) return passedOver;
    return etag === null ? [] : [{ etag, resource: resource as Json<Item> }];
  });
}

/** The parameters of the statement. */
interface Together extends Reach, Written {
  item_ids: number[];
  menu_ids: number[];
  calls: string;
}

/** The result of a call that the statement has not skipped; nulls: there was nothing to change. */
type Updated = { place: number } & (Shown<Item> | { etag: null; resource: null });

function updateStatement(
  name: string,
  spec: UpdateSpec<ItemKey & Switching, Body, Item>,
  locks: MenuLocks,
): Statement<Together, Updated> {
  const { assigned, isDue, returned } = updateParts(spec, ofRow('call'), constrained);
  return writeOf<Together, Updated>(name, (p) => ({
    before: sql`
    wanted as (${tableOfCalls(p, callColumns)}),
    ${lockedInMenus(p, { item: p('item_ids', 'bigint[]'), menu: p('menu_ids', 'bigint[]') }, locks)},
    terms as materialized (${heldCurrencies(sql`select location_id from locked`, p('account_id', 'bigint'))}),
    call as materialized (
      select wanted.*, locked.account_id, location_id
      from wanted join locked using (item_id, menu_id) join terms using (location_id)
    )`,
    change: sql`
    update item set ${assigned}
    from call join terms using (location_id)
    where item.item_id = call.item_id and item.account_id = call.account_id and ${isDue}
    returning ${returned}, call.place, call.request_id`,
    requestId: sql.ref('change.request_id'),
    touch: touchCounted(p),
    // Not an outer join, which would look for each call among all changes.
    response: sql`
    select place, etag, resource from changed
    union all
    select place, null, null from call where place <> all (array(select place from changed))`,
  }));
}

const callColumns = {
  place: 'integer',
  item_id: 'bigint',
  menu_id: 'bigint',
  present: 'text[]',
  ...itemFields,
  client_id: 'text',
  stamp: 'integer',
  if_match: 'text[]',
  request_id: 'text',
};
