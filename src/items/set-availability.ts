import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import { type Reach, reachOf, withinReach } from '../records/reach.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { recordEvents } from '../records/write.ts';
import { type FieldError, parameterError } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { type Json, jsonObject } from '../db/json.ts';
import { ok } from '../http/reply.ts';
import { requireMenu, touchMenus } from '../menus/menu.ts';
import { absenceFaults, previousFields, switched } from './availability.ts';
import { available, changedItem, type Item, itemJson, lapsed } from './item.ts';

type AvailabilityChange = components['schemas']['AvailabilityChange'];
type AvailabilityResult = components['schemas']['AvailabilityResult'];

/** Sets the availability of many items, in one statement with its events. */
export async function setAvailability(call: Call<'setAvailability'>): Promise<Reply<'setAvailability'>> {
  const { database, params, body, caller, requestId, eventCommitted } = call;
  requireSense(body.items);
  const rows = await set(database, {
    ...params,
    ...reachOf(caller),
    ...columnsOf(body.items),
    request_id: requestId,
  });
  requireDistinct(rows);
  if (rows.every(({ outcome }) => outcome === 'not_found'))
    await requireMenu(database, params.menu_id, caller);
  if (rows.some(({ outcome }) => outcome === 'changed')) eventCommitted();
  return ok(
    `{"data":[${rows.map(({ result }) => result).join(',')}]}` as Json<{ data: AvailabilityResult[] }>,
  );
}

function requireSense(rows: AvailabilityChange[]): void {
  const seen = new Map<string, number>();
  const errors = rows.flatMap((row, place) => [
    ...namingFaults(row, place, seen),
    ...absenceFaults(row, `/items/${place}`),
  ]);
  if (errors.length > 0) throw parameterError(errors);
}

function namingFaults(row: AvailabilityChange, place: number, seen: Map<string, number>): FieldError[] {
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

type Values = { menu_id: number; request_id: string } & Reach & Wanted;

interface Row {
  outcome: AvailabilityResult['result'];
  result: Json<AvailabilityResult>;
  /** The first row that names the same item; null when there is none. */
  first_place: number | null;
}

// Rows are locked in the order of ids, as in every write of more than one, and then compared as they are by then.
const set = statement<Values, Row>((p) =>
  build
    .with('wanted', () => wantedRows(p))
    .with('locked', (db) =>
      db
        .selectFrom('item')
        .selectAll()
        .where('menu_id', '=', p('menu_id', 'bigint'))
        .where(withinReach(p, 'item'))
        .where(sql<boolean>`item_id = any (array(${namedItems(p)}))`)
        .orderBy('item_id')
        .forNoKeyUpdate(),
    )
    .with('found', () => foundRows())
    .with('changed', (db) =>
      db
        .updateTable('item')
        .from('found')
        .set({
          is_available: sql`found.wants_available`,
          unavailable_until: sql`found.wants_until`,
          version: sql`item.version + 1`,
          updated_at: sql`clock_timestamp()`,
        })
        .whereRef('item.item_id', '=', 'found.item_id')
        .whereRef('item.account_id', '=', 'found.account_id')
        .where('found.differs', '=', true)
        .where(sql<boolean>`not exists (select from found where place > first_place)`)
        .returning([
          ...changedItem(
            sql`array[case when ${switched()} then 'item.toggled' else 'item.updated' end]`,
            previousFields(),
          ),
          'item.item_id',
        ]),
    )
    .with('recorded', () => recordEvents('changed', p))
    .with('touched', () => touchMenus('changed'))
    .selectFrom('wanted')
    .leftJoin('found', 'found.place', 'wanted.place')
    .leftJoin('changed', 'changed.item_id', 'found.item_id')
    .select([outcome().as('outcome'), resultJson().as('result'), 'found.first_place'])
    .orderBy('wanted.place'),
);

interface WantedRow {
  item_id: number | null;
  external_id: string | null;
  is_available: boolean;
  unavailable_until: Date | null;
  has_plan: boolean;
  /** From 0. */
  place: number;
}

function wantedRows(p: Param<Values>): RawBuilder<WantedRow> {
  return sql`(
    select item_id, external_id, is_available, unavailable_until, has_plan, place::int - 1 as place
    from unnest(
      ${p('item_ids', 'bigint[]')}, ${p('external_ids', 'text[]')}, ${p('availables', 'boolean[]')},
      ${p('untils', 'timestamptz[]')}, ${p('plans', 'boolean[]')}
    ) with ordinality as wanted (item_id, external_id, is_available, unavailable_until, has_plan, place))`;
}

function namedItems(p: Param<Values>): RawBuilder<{ item_id: number }> {
  return sql`
    select item_id from wanted where item_id is not null
    union all
    select item.item_id from wanted join item on item.external_id = wanted.external_id
    where item.menu_id = ${p('menu_id', 'bigint')} and item.account_id = ${p('account_id', 'bigint')}`;
}

interface FoundRow {
  place: number;
  first_place: number;
  item_id: number;
  account_id: number;
  external_id: string | null;
  wants_available: boolean;
  wants_until: Date | null;
  differs: boolean;
  item: Json<Item>;
}

/** The wanted rows whose item is there, with what the item is to become and whether readers see it so already. */
function foundRows(): RawBuilder<FoundRow> {
  const until = sql`case when not ${lapsed('locked')} then locked.unavailable_until end`;
  const wantsUntil = sql`case
    when wanted.is_available then null
    when wanted.has_plan then wanted.unavailable_until
    else ${until} end`;
  return sql`(
    select wanted.place, min(wanted.place) over (partition by locked.item_id) as first_place,
      locked.item_id, locked.account_id, locked.external_id,
      wanted.is_available as wants_available, ${wantsUntil} as wants_until,
      (wanted.is_available, ${wantsUntil}) is distinct from (${available('locked')}, ${until}) as differs,
      ${itemJson('locked')} as item
    from wanted
    join (
      select place, locked.item_id from wanted join locked on locked.item_id = wanted.item_id
      union all
      select place, locked.item_id from wanted join locked on locked.external_id = wanted.external_id
    ) as named using (place)
    join locked on locked.item_id = named.item_id)`;
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
    item: sql<Json<Item | null>>`coalesce(changed.data, found.item)`,
  });
}
