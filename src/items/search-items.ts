import { type RawBuilder, sql } from 'kysely';
import { filteredStatement, type Param } from '../db/statement.ts';
import type { Call, Reply } from '../http/handler.ts';
import { type ListRow, type PageRequest, pageRequest, pageResponse } from '../http/pagination.ts';
import { isAvailable } from '../records/absence.ts';
import { reachOf } from '../records/reach.ts';
import { type Item, itemJson } from './item.ts';
import { mentions } from './search.ts';

/*
 * As in the event feed, a page is read through an index that contains only what one filter selects: the items named by
 * id or external_id, those of a location, or all of the account. If other filters remain, it examines a limited number
 * of items and may find less than a page, or nothing; its cursor then leads to the items not yet examined.
 */

const mostExamined = 5_000;

/** A page of the items that match the filters, on all menus that the caller may reach, by id. */
export async function searchItems(call: Call<'searchItems'>): Promise<Reply<'searchItems'>> {
  const { database, query, caller } = call;
  const wanted = pageRequest(query);
  const { account_id, location_ids } = reachOf(caller);
  const filters = narrowed({ ...query, granted: location_ids ?? undefined });
  const rows = await selectItems(database, { ...filters, ...wanted, account_id });
  const listed = rows.filter(({ is_end }) => !is_end) as ListRow<Item>[];
  const end = rows.find(({ is_end }) => is_end);
  return pageResponse(listed, wanted, call, end?.id);
}

type Query = Omit<Call<'searchItems'>['query'], 'limit' | 'cursor'>;
type Filters = { [F in keyof Query]?: Query[F] | undefined } & {
  /** The locations that the caller may act on; absent: all. */
  granted?: number[] | undefined;
};

/** A grant of one location is a filter by it. */
function narrowed({ granted, location_id, ...others }: Filters): Filters {
  const [only] = granted ?? [];
  if (granted?.length === 1 && (location_id ?? only) === only) return { ...others, location_id: only };
  return { ...others, location_id, granted };
}

type Values = Filters & PageRequest & { account_id: number };

/** An item; or, after all items, the last one examined, if there may be more. */
type Row = Omit<ListRow<Item>, 'resource'> & { resource: ListRow<Item>['resource'] | null; is_end: boolean };

const conditions: Record<keyof Filters, (p: Param<Required<Values>>) => RawBuilder<boolean>> = {
  item_id: (p) => sql`item_id = any (${p('item_id', 'bigint[]')})`,
  external_id: (p) => sql`external_id = any (${p('external_id', 'text[]')})`,
  location_id: (p) => sql`location_id = ${p('location_id', 'bigint')}`,
  is_available: (p) => sql`${isAvailable('item')} = ${p('is_available', 'boolean')}`,
  q: (p) => mentions(p('q', 'text')),
  granted: (p) => sql`location_id = any (${p('granted', 'bigint[]')})`,
};

const selectItems = filteredStatement<Values, Row, keyof Filters>(
  'items.searchItems',
  Object.keys(conditions) as (keyof Filters)[],
  (p, present) => {
    const remaining = (...led: (keyof Filters)[]) =>
      present.filter((filter) => !led.includes(filter)).map((filter) => conditions[filter](p));
    if (present.includes('item_id')) return namedItems(p, remaining());
    if (present.includes('external_id'))
      return namedItems(p, [sql`item_id = any (${bearing(p, remaining('external_id'))})`]);
    return walkedItems(
      p,
      present.includes('location_id') ? [conditions.location_id(p)] : [],
      remaining('location_id'),
    );
  },
);

/** Items that are named one by one, which limits their number. */
function namedItems(p: Param<Required<Values>>, filters: RawBuilder<boolean>[]): RawBuilder<Row> {
  return sql`
    select item_id as id, false as is_end, ${itemJson()} as resource from item
    where ${all(ownAfter(p), ...filters)} order by item_id limit ${p('limit', 'bigint')}`;
}

// For each external_id, no more than a page can show: a chain may have it on thousands of menus.
function bearing(p: Param<Required<Values>>, filters: RawBuilder<boolean>[]): RawBuilder<number[]> {
  return sql`array(
    select bearer.item_id from unnest(${p('external_id', 'text[]')}) as wanted (external_id), lateral (
      select item_id from item
      where ${all(ownAfter(p), sql`item.external_id = wanted.external_id`, ...filters)}
      order by item_id limit ${p('limit', 'bigint')}
    ) as bearer
    order by item_id limit ${p('limit', 'bigint')})`;
}

/** Items in the order of an index, and how far it was read if others may follow. */
function walkedItems(
  p: Param<Required<Values>>,
  led: RawBuilder<boolean>[],
  others: RawBuilder<boolean>[],
): RawBuilder<Row> {
  const within = all(ownAfter(p), ...led);
  if (others.length === 0) return namedItems(p, led);
  return sql`
    select * from (
      select item_id as id, false as is_end, ${itemJson()} as resource
      from (select * from item where ${within} order by item_id limit ${mostExamined}) as item
      where ${all(...others)} order by item_id limit ${p('limit', 'bigint')}
    ) as listed
    union all
    select * from (
      select item_id, true, null::json from item where ${within} order by item_id offset ${mostExamined - 1} limit 1
    ) as examined
    order by is_end, id`;
}

function ownAfter(p: Param<Required<Values>>): RawBuilder<boolean> {
  return sql`item.account_id = ${p('account_id', 'bigint')} and item_id > ${p('after', 'bigint')}`;
}

function all(...conditions: RawBuilder<boolean>[]): RawBuilder<boolean> {
  return sql`${sql.join(conditions, sql` and `)}`;
}
