import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import { type Json, jsonObject } from '../db/json.ts';
import type { Param } from '../db/statement.ts';
import { type FieldError, parameterError } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import { type MenuKey, requireMenu } from '../records/menu-reach.ts';
import { reachOf, withinReach } from '../records/reach.ts';
import { change, type EventType, list, type Written, writeOf } from '../records/write.ts';
import { absenceErrors, hasSwitched, previousFields } from './availability.ts';
import { type Item, isAvailable, itemJson, items, pendingReturn } from './item.ts';

type AvailabilityChange = components['schemas']['AvailabilityChange'];
type AvailabilityResult = components['schemas']['AvailabilityResult'];

/** Sets the availability of many items, in one statement with its events. */
export async function setAvailability(call: Call<'setAvailability'>): Promise<Reply<'setAvailability'>> {
  const { database, params, body, caller, requestId } = call;
  requireSense(body.items);
  const key = { ...params, ...reachOf(caller) };
  const rows = await set(database, { ...key, ...columnsOf(body.items), request_id: requestId });
  requireDistinct(rows);
  if (rows.every(({ outcome }) => outcome === 'not_found')) await requireMenu(database, key);
  const results = rows.map(({ result }) => result).join(',');
  return ok(`{"data":[${results}]}` as Json<{ data: AvailabilityResult[] }>);
}

function requireSense(rows: AvailabilityChange[]): void {
  const seen = new Map<string, number>();
  const errors = rows.flatMap((row, place) => [
    ...namingErrors(row, place, seen),
    ...absenceErrors(row, `/items/${place}`),
  ]);
  if (errors.length > 0) throw parameterError(errors);
}

function namingErrors(row: AvailabilityChange, place: number, seen: Map<string, number>): FieldError[] {
  const { item_id, external_id } = row;
  const field = `/items/${place}`;
  if (item_id === undefined && external_id === undefined)
    return [{ field, code: 'required', message: 'needs an item_id or an external_id' }];
  if (item_id !== undefined && external_id !== undefined)
    return [{ field, code: 'conflict', message: 'has both an item_id and an external_id' }];
  const name = JSON.stringify(item_id ?? external_id);
  const first = seen.get(name);
  seen.set(name, first ?? place);
  return first === undefined ? [] : [duplicate(place, first)];
}

/** @throws 422 when a row names by item_id what another names by external_id; nothing is changed then. */
function requireDistinct(rows: Row[]): void {
  const errors = rows.flatMap(({ first_place }, place) =>
    first_place === null || first_place === place ? [] : [duplicate(place, first_place)],
  );
  if (errors.length > 0) throw parameterError(errors);
}

function duplicate(place: number, first: number): FieldError {
  return { field: `/items/${place}`, code: 'duplicate', message: `names the same item as /items/${first}` };
}

interface Wanted {
  item_ids: (number | null)[];
  external_ids: (string | null)[];
  availables: boolean[];
  untils: (string | null)[];
  /** Whether the row says anything of `unavailable_until`. */
  plans: boolean[];
}

function columnsOf(rows: AvailabilityChange[]): Wanted {
  return {
    item_ids: rows.map(({ item_id = null }) => item_id),
    external_ids: rows.map(({ external_id = null }) => external_id),
    availables: rows.map(({ is_available }) => is_available),
    untils: rows.map(({ unavailable_until = null }) => unavailable_until),
    plans: rows.map(({ unavailable_until }) => unavailable_until !== undefined),
  };
}

type Values = MenuKey & Wanted & Written;

interface Row {
  outcome: AvailabilityResult['result'];
  result: Json<AvailabilityResult>;
  /** The first row that names the same item; null when there is none. */
  first_place: number | null;
}

const eventTypes = sql<
  EventType[]
>`array[case when ${hasSwitched()} then 'item.toggled' else 'item.updated' end]`;

// Rows are locked in the order of ids, as in every write of more than one, and then compared as they are by then.
const set = writeOf<Values, Row>('items.setAvailability', (p) => ({
  before: sql`
    wanted as (${wantedRows(p)}),
    locked as (
      select * from item
      where menu_id = ${p('menu_id', 'bigint')} and ${withinReach(p, 'item')}
        and item_id = any (array(${namedItems(p)}))
      order by item_id for no key update
    ),
    found as (${foundRows()})`,
  change: sql`
    update item
    set is_available = found.wants_available, unavailable_until = found.wants_until,
      version = item.version + 1, updated_at = clock_timestamp()
    from found
    where item.item_id = found.item_id and item.account_id = found.account_id and found.differs
      and not exists (select from found where place > first_place)
    returning ${list([
      ...change(items, eventTypes, { previous: previousFields() }),
      sql.ref('item.item_id').as('item_id'),
    ])}`,
  response: sql`
    select ${outcome()} as outcome, ${resultJson()} as result, found.first_place
    from wanted
    left join found using (place)
    left join changed on changed.item_id = found.item_id
    order by wanted.place`,
}));

function wantedRows(p: Param<Values>): RawBuilder<unknown> {
  return sql`
    select item_id, external_id, is_available, unavailable_until, has_plan, place::int - 1 as place
    from unnest(
      ${p('item_ids', 'bigint[]')}, ${p('external_ids', 'text[]')}, ${p('availables', 'boolean[]')},
      ${p('untils', 'timestamptz[]')}, ${p('plans', 'boolean[]')}
    ) with ordinality as wanted (item_id, external_id, is_available, unavailable_until, has_plan, place)`;
}

function namedItems(p: Param<Values>): RawBuilder<unknown> {
  return sql`
    select item_id from wanted where item_id is not null
    union all
    select item.item_id from wanted join item on item.external_id = wanted.external_id
    where item.menu_id = ${p('menu_id', 'bigint')} and item.account_id = ${p('account_id', 'bigint')}`;
}

/** The wanted rows whose item is there, with what the item is to become and whether readers see it so already. */
function foundRows(): RawBuilder<unknown> {
  const until = pendingReturn('locked');
  const wantsUntil = sql`case
    when wanted.is_available then null
    when wanted.has_plan then wanted.unavailable_until
    else ${until} end`;
  return sql`
    select wanted.place, min(wanted.place) over (partition by locked.item_id) as first_place,
      locked.item_id, locked.account_id, locked.external_id,
      wanted.is_available as wants_available, ${wantsUntil} as wants_until,
      (wanted.is_available, ${wantsUntil}) is distinct from (${isAvailable('locked')}, ${until}) as differs,
      ${itemJson('locked')} as item
    from wanted
    join (
      select place, locked.item_id from wanted join locked on locked.item_id = wanted.item_id
      union all
      select place, locked.item_id from wanted join locked on locked.external_id = wanted.external_id
    ) as named using (place)
    join locked on locked.item_id = named.item_id`;
}

function outcome(): RawBuilder<AvailabilityResult['result']> {
  return sql`case
    when changed.item_id is not null then 'changed'
    when found.item_id is not null then 'unchanged'
    else 'not_found' end`;
}

function resultJson(): RawBuilder<Json<AvailabilityResult>> {
  return jsonObject<AvailabilityResult>({
    item_id: sql<number>`coalesce(found.item_id, wanted.item_id)`,
    external_id: sql<string>`case when found.item_id is null then wanted.external_id else found.external_id end`,
    result: outcome(),
    item: sql<Json<Item | null>>`coalesce(changed.resource, found.item)`,
  });
}
