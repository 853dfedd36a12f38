import { type RawBuilder, sql } from 'kysely';
import { reachOf } from '../records/reach.ts';
import type { Call, Reply } from '../http/handler.ts';
import { page, pageRequest } from '../http/pagination.ts';
import { ok } from '../http/reply.ts';
import { requireMenu } from '../menus/menu.ts';
import { available, itemJson } from './item.ts';

export async function listItems(call: Call<'listItems'>): Promise<Reply<'listItems'>> {
  const { database, params, query, caller, url } = call;
  const wanted = pageRequest(query);
  const { account_id, location_ids } = reachOf(caller);
  const rows = await database
    .selectFrom('item')
    .select(['item_id as id', itemJson().as('resource')])
    .where('menu_id', '=', params.menu_id)
    .where('account_id', '=', account_id)
    .where('item_id', '>', wanted.after)
    .where(sql<boolean>`(${location_ids}::bigint[] is null or location_id = any (${location_ids}))`)
    .where((eb) => eb.and(conditions(query)))
    .orderBy('item_id')
    .limit(wanted.limit)
    .execute();
  // Only an empty page needs to know why.
  if (rows.length === 0) await requireMenu(database, params.menu_id, caller);
  const { body, headers } = page(rows, wanted, url);
  return ok(body, headers);
}

// Only the filters that were given are in the statement, so that each can use its index.
function conditions(query: Call<'listItems'>['query']): RawBuilder<boolean>[] {
  return [
    ...given(query.category_id, (id) => sql`category_id = ${id}`),
    ...given(query.is_available, (wanted) => sql`${available()} = ${wanted}`),
    ...given(query.dietary_tag, (tags) => sql`dietary_tags @> ${tags}::text[]`),
    ...given(query.allergen_free, declaredFreeOf),
    ...given(query.external_id, (id) => sql`external_id = ${id}`),
    ...given(query.updated_since, (since) => sql`updated_at >= ${since}::timestamptz`),
    ...given(query.q, matches),
  ];
}

function given<T>(value: T | undefined, condition: (value: T) => RawBuilder<boolean>): RawBuilder<boolean>[] {
  return value === undefined ? [] : [condition(value)];
}

// An empty list declares nothing, so it is no "free from"; another spelling of a label must not hide an allergen.
function declaredFreeOf(allergens: string[]): RawBuilder<boolean> {
  return sql`(allergens <> '{}' and not exists (
    select from unnest(allergens) as declared, unnest(${allergens}::text[]) as avoided
    where btrim(search_text(declared)) = btrim(search_text(avoided))))`;
}

// The index is of both texts in one, where a match could begin in the name and end in the description.
function matches(q: string): RawBuilder<boolean> {
  const pattern = sql`'%' || regexp_replace(search_text(${q}), '([\\\\%_])', '\\\\\\1', 'g') || '%'`;
  return sql`search_text(name || ' ' || description) like ${pattern}
    and (search_text(name) like ${pattern} or search_text(description) like ${pattern})`;
}
