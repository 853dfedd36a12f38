/*
 * Calls of setAvailability for one item each that share a statement; see shared-in-menus.ts. Calls that the statement
 * does not change continue on their own: those it has skipped, and those whose item does not exist or is already in
 * the wanted state.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { type Json, jsonObject } from '../db/json.ts';
import type { Calls } from '../db/shared-statement.ts';
import type { Statement } from '../db/statement.ts';
import { isAvailable, pendingReturn } from '../records/absence.ts';
import type { AvailabilityValues, ResultRow, RowResult } from '../records/availability-rows.ts';
import type { MenuKey } from '../records/menu-reach.ts';
import type { Reach } from '../records/reach.ts';
import { absenceNotes, previousOfSwitch, switchEventTypes } from '../records/switches.ts';
import { change, list, raised, type Written, writeOf, written } from '../records/write.ts';
import { type Item, items } from './item.ts';
import {
  jsonOfCalls,
  lockedInMenus,
  type MenuLocks,
  ofCall,
  sharedInMenus,
  tableOfCalls,
  touchCounted,
} from './shared-in-menus.ts';

type Call = MenuKey & AvailabilityValues;
type Result = ResultRow<'item', Item>;

/**
 * @param alone the statement for a single call.
 * @returns the same for any number of calls at once.
 */
export function sharedSwitch(alone: Statement<Call, Result>): Statement<Call, Result> {
  const switchOne = sharedInMenus<Call, Result>({
    alone,
    together: (locks, ...calls) => switchTogether(switches[locks], ...calls),
    changed: ({ ids: [id], menu_id, external_ids: [external_id] }) => id ?? `${menu_id} ${external_id}`,
  });
  return (database, call) => (call.ids.length === 1 && !call.restores[0] ? switchOne : alone)(database, call);
}

async function switchTogether(
  statement: Statement<Together, Switched>,
  database: Database,
  calls: Calls<Call>,
  passedOver: Statement<Call, Result>,
): Promise<(Result[] | Promise<Result[]>)[]> {
  const [{ account_id, location_ids }] = calls;
  const switched = await statement(database, {
    account_id,
    location_ids,
    menu_ids: calls.map(({ menu_id }) => menu_id),
    calls: jsonOfCalls(calls.map(columnsOf)),
    ...written(null),
  });
  const results = new Map(switched.map(({ place, result }) => [place, result]));
  return calls.map((call, place) => {
    const result = results.get(place);
    if (result === undefined) return passedOver(database, call);
    return [{ place: 0, first_place: 0, are_too_many: false, outcome: 'changed', result }];
  });
}

/** The parameters of the statement. */
interface Together extends Reach, Written {
  menu_ids: number[];
  calls: string;
}

interface Switched {
  place: number;
  result: Json<RowResult<'item', Item>>;
}

const callColumns = {
  place: 'integer',
  menu_id: 'bigint',
  id: 'bigint',
  external_id: 'text',
  is_available: 'boolean',
  unavailable_until: 'timestamptz',
  has_plan: 'boolean',
  client_id: 'text',
  stamp: 'integer',
  request_id: 'text',
};

function columnsOf({ menu_id, client_id, stamp, request_id, ...rows }: Call): object {
  const { ids, external_ids, availables, untils, plans } = rows;
  return {
    menu_id,
    id: ids[0],
    external_id: external_ids[0],
    is_available: availables[0],
    unavailable_until: untils[0],
    has_plan: plans[0],
    client_id,
    stamp,
    request_id,
  };
}

function switchStatement(name: string, locks: MenuLocks): Statement<Together, Switched> {
  const until = sql`case
    when call.is_available then null
    when call.has_plan then call.unavailable_until
    else ${pendingReturn('item')} end`;
  const values: Record<string, RawBuilder<unknown>> = {
    is_available: sql.ref('call.is_available'),
    unavailable_until: until,
    ...absenceNotes(ofCall, 'item', sql.ref('call.is_available')),
    ...raised(ofCall, 'item'),
  };
  return writeOf<Together, Switched>(name, (p) => ({
    before: sql`
    wanted as (${tableOfCalls(p, callColumns)}),
    -- One look-up for each, whatever the planner thinks of their number.
    named as materialized (
      select place, coalesce(id, (
        select item_id from item
        where item.menu_id = wanted.menu_id and item.external_id = wanted.external_id
          and account_id = ${p('account_id', 'bigint')})) as item_id
      from wanted
    ),
    ${lockedInMenus(p, { item: sql`array(select item_id from named)`, menu: p('menu_ids', 'bigint[]') }, locks)},
    call as materialized (
      select wanted.*, item_id, account_id
      from wanted join named using (place) join locked using (item_id, menu_id)
    )`,
    change: sql`
    update item set ${sql.join(Object.entries(values).map(([name, value]) => sql`${sql.ref(name)} = ${value}`))}
    from call
    where item.item_id = call.item_id and item.account_id = call.account_id
      and (call.external_id is null or item.external_id = call.external_id)
      and (call.is_available, ${until}) is distinct from (${isAvailable('item')}, ${pendingReturn('item')})
    returning ${list(change(items, switchEventTypes('item'), { previous: previousOfSwitch }))},
      call.place, call.request_id, new.item_id, new.external_id`,
    requestId: sql.ref('change.request_id'),
    touch: touchCounted(p),
    response: sql`select place, ${result} as result from changed`,
  }));
}

const result = jsonObject<RowResult<'item', Item>>({
  item_id: sql.ref<number>('item_id'),
  external_id: sql.ref<string | null>('external_id'),
  result: sql<'changed'>`'changed'`,
  item: sql.ref<Json<Item | null>>('resource'),
});

const switches = {
  free: switchStatement('items.setAvailabilities', 'free'),
  awaited: switchStatement('items.setAvailabilitiesInMenu', 'awaited'),
};
