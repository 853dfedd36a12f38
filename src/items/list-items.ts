import { type RawBuilder, sql } from 'kysely';
import { build, filteredStatement, type Param } from '../db/statement.ts';
import type { Call, Reply } from '../http/handler.ts';
import { type ListRow, type PageRequest, pageRequest, pageResponse } from '../http/pagination.ts';
import { isAvailable } from '../records/absence.ts';
import { type MenuKey, requireMenu } from '../records/menu-reach.ts';
import { reachOf, withinReach } from '../records/reach.ts';
import { isUpdatedSince } from '../records/updated-since.ts';
import { type Item, itemJson } from './item.ts';
import { mentions } from './search.ts';

/** A page of the items of a menu that match the filters, by id. @throws 404 or 403 for the menu */
export async function listItems(call: Call<'listItems'>): Promise<Reply<'listItems'>> {
  const { database, params, query, caller } = call;
  const wanted = pageRequest(query);
  const key = { ...params, ...reachOf(caller) };
  const rows = await selectItems(database, { ...query, ...key, ...wanted });
  // Only an empty page has to be explained.
  if (rows.length === 0) await requireMenu(database, key);
  return pageResponse(rows, wanted, call);
}

type Query = Omit<Call<'listItems'>['query'], 'limit' | 'cursor'>;
type Filter = keyof Query;
type Values = MenuKey & PageRequest & Query;

const conditions: Record<Filter, (p: Param<Required<Values>>) => RawBuilder<boolean>> = {
  category_id: (p) => sql`category_id = ${p('category_id', 'bigint')}`,
  is_available: (p) => sql`${isAvailable('item')} = ${p('is_available', 'boolean')}`,
  dietary_tag: (p) => sql`dietary_tags @> ${p('dietary_tag', 'text[]')}`,
  allergen_free: (p) => declaredFreeOf(p('allergen_free', 'text[]')),
  external_id: (p) => sql`external_id = ${p('external_id', 'text')}`,
  updated_since: isUpdatedSince,
  q: (p) => mentions(p('q', 'text')),
};

const selectItems = filteredStatement<Values, ListRow<Item>, Filter>(
  'items.listItems',
  Object.keys(conditions) as Filter[],
  (p, present) =>
    build
      .selectFrom('item')
      .select(['item_id as id', itemJson().as('resource')])
      .where('menu_id', '=', p('menu_id', 'bigint'))
      .where(withinReach(p, 'item'))
      .where('item_id', '>', p('after', 'bigint'))
      .where((eb) => eb.and(present.map((filter) => conditions[filter](p))))
      .orderBy('item_id')
      .limit(p('limit', 'bigint')),
);

// An empty list declares nothing, so it does not mean "free from"; another spelling of a label must not hide an
// allergen.
function declaredFreeOf(allergens: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(allergens <> '{}' and not exists (
    select from unnest(allergens) as declared, unnest(${allergens}) as avoided
    where btrim(search_text(declared)) = btrim(search_text(avoided))))`;
}
