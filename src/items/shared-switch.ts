/*
 * Calls of setAvailability that share a statement; see shared-in-menus.ts. The statement applies all rows of a call or
 * none. A call continues on its own if one of its items was locked, does not exist, or is named by an earlier row; so
 * does one with many rows, which would hold up the others.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { type Json, jsonObject } from '../db/json.ts';
import { type Calls, type Outcome, passedOver } from '../db/shared-statement.ts';
import type { Statement } from '../db/statement.ts';
import {
  type AvailabilityValues,
  comparedRows,
  type ResultRow,
  type RowResult,
  shownOfSwitch,
  switchOfFound,
} from '../records/availability-rows.ts';
import type { MenuKey } from '../records/menu-reach.ts';
import type { Reach } from '../records/reach.ts';
import { list, type Written, writeOf, written } from '../records/write.ts';
import { type Item, itemJson, switchedItems } from './item.ts';
import {
  lockedInMenus,
  type MenuLocks,
  ofRow,
  sharedInMenus,
  tableOfCalls,
  touchCounted,
} from './shared-in-menus.ts';

type Call = MenuKey & AvailabilityValues;
type Result = ResultRow<'item', Item>;

// With more rows, a call is mostly work that cannot be shared, and several connections do it faster than one.
const mostRows = 5;

/**
 * @param alone the statement for a single call.
 * @returns the same for any number of calls at once.
 */
export function sharedSwitch(alone: Statement<Call, Result>): Statement<Call, Result> {
  const switchFew = sharedInMenus<Call, Result>({
    alone,
    together: (locks, ...calls) => switchTogether(switches[locks], ...calls),
    changed: ({ ids, menu_id, external_ids }) =>
      ids.map((id, place) => id ?? `${menu_id} ${external_ids[place]}`),
  });
  return (database, call) =>
    (call.ids.length <= mostRows && !call.restores.includes(true) ? switchFew : alone)(database, call);
}

async function switchTogether(
  statement: Statement<Together, Switched>,
  database: Database,
  calls: Calls<Call>,
): Promise<Outcome<Result[]>[]> {
  const [{ account_id, location_ids }] = calls;
  const switched = await statement(database, {
    account_id,
    location_ids,
    menu_ids: calls.map(({ menu_id }) => menu_id),
    calls: JSON.stringify(calls.flatMap(rowsOfCall)),
    ...written(null),
  });
  const results = Map.groupBy(switched, ({ call }) => call);
  return calls.map((_, place) => results.get(place) ?? passedOver);
}

/** The parameters of the statement. */
interface Together extends Reach, Written {
  menu_ids: number[];
  calls: string;
}

/** The result of a row, with the place of its call among the calls. */
type Switched = Result & { call: number };

const rowColumns = {
  call: 'integer',
  rows: 'integer',
  place: 'integer',
  menu_id: 'bigint',
  id: 'bigint',
  external_id: 'text',
  wants_available: 'boolean',
  wanted_until: 'timestamptz',
  has_plan: 'boolean',
  client_id: 'text',
  stamp: 'integer',
  request_id: 'text',
};

function rowsOfCall(
  { ids, external_ids, availables, untils, plans, ...values }: Call,
  call: number,
): object[] {
  const { menu_id, client_id, stamp, request_id } = values;
  return ids.map((id, place) => ({
    call,
    rows: ids.length,
    place,
    menu_id,
    id,
    external_id: external_ids[place],
    wants_available: availables[place],
    wanted_until: untils[place],
    has_plan: plans[place],
    client_id,
    stamp,
    request_id,
  }));
}

function switchStatement(name: string, locks: MenuLocks): Statement<Together, Switched> {
  return writeOf<Together, Switched>(name, (p) => ({
    before: sql`
    wanted as (${tableOfCalls(p, rowColumns)}),
    -- One look-up for each, whatever the planner thinks of their number.
    named as materialized (
      select call, place, coalesce(id, (
        select item_id from item
        where item.menu_id = wanted.menu_id and item.external_id = wanted.external_id
          and account_id = ${p('account_id', 'bigint')})) as item_id
      from wanted
    ),
    ${lockedInMenus(
      p,
      { item: sql`array(select item_id from named)`, menu: p('menu_ids', 'bigint[]') },
      locks,
      sql`*`,
    )},
    turns as (
      select wanted.*, item_id, account_id, locked.external_id as known_id, is_available, unavailable_until,
        row_number() over (partition by item_id order by call, place) as turn
      from wanted join named using (call, place) join locked using (item_id, menu_id)
      where wanted.external_id is null or locked.external_id = wanted.external_id
    ),
    matched as (
      select *, count(*) over (partition by call) = rows and max(turn) over (partition by call) = 1 as is_whole from turns
    ),
    found as materialized (
      select call, place, item_id as id, account_id, known_id as external_id, becomes_available, returns_at, differs,
        client_id, stamp, request_id, case when not differs then (
          select ${itemJson('locked')} from locked where locked.item_id = matched.item_id) end as resource
      from matched ${comparedRows()}
      where is_whole
    )`,
    change: sql`
    ${switchOfFound(switchedItems, ofRow('found'))}
    returning ${list(shownOfSwitch(switchedItems))}, new.external_id, call, place, request_id`,
    requestId: sql.ref('change.request_id'),
    touch: touchCounted(p, sql`count(distinct call)`),
    response: sql`
    select call, place, ${resultOf('changed')} from changed
    union all
    select call, place, ${resultOf('unchanged')} from found where not differs
    order by call, place`,
  }));
}

function resultOf(outcome: Result['outcome']): RawBuilder<unknown> {
  const result = jsonObject<RowResult<'item', Item>>({
    item_id: sql.ref<number>('id'),
    external_id: sql.ref<string | null>('external_id'),
    result: sql`${sql.lit(outcome)}`,
    item: sql.ref<Json<Item | null>>('resource'),
  });
  return sql`place as first_place, false as are_too_many, ${sql.lit(outcome)} as outcome, ${result} as result`;
}

const switches = {
  free: switchStatement('items.setAvailabilities', 'free'),
  awaited: switchStatement('items.setAvailabilitiesInMenu', 'awaited'),
};
