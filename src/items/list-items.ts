import { sql } from 'kysely';
import { reachOf } from '../accounts/reach.ts';
import type { Call, Reply } from '../http/handler.ts';
import { page, pageRequest } from '../http/pagination.ts';
import { ok } from '../http/reply.ts';
import { requireMenu } from '../menus/menu.ts';
import { available, itemJson } from './item.ts';

export async function listItems({
  database,
  params,
  query,
  caller,
  url,
}: Call<'listItems'>): Promise<Reply<'listItems'>> {
  const wanted = pageRequest(query);
  const { account_id, location_ids } = reachOf(caller);
  const rows = await database
    .selectFrom('item')
    .select(['item_id as id', itemJson().as('resource')])
    .where('menu_id', '=', params.menu_id)
    .where('account_id', '=', account_id)
    .where('item_id', '>', wanted.after)
    .$if(location_ids !== null, (items) => items.where(sql<boolean>`location_id = any (${location_ids})`))
    .$if(query.category_id !== undefined, (items) =>
      items.where('category_id', '=', query.category_id as number),
    )
    .$if(query.is_available !== undefined, (items) =>
      items.where(available(), '=', query.is_available as boolean),
    )
    .$if(query.dietary_tag !== undefined, (items) =>
      items.where(sql<boolean>`dietary_tags @> ${query.dietary_tag}`),
    )
    .$if(query.allergen_free !== undefined, (items) =>
      items.where(sql<boolean>`not allergens && ${query.allergen_free}`),
    )
    .$if(query.external_id !== undefined, (items) =>
      items.where('external_id', '=', query.external_id as string),
    )
    .$if(query.updated_since !== undefined, (items) =>
      items.where('updated_at', '>=', new Date(query.updated_since as string)),
    )
    .$if(query.q !== undefined, (items) => items.where(matches(query.q as string)))
    .orderBy('item_id')
    .limit(wanted.limit)
    .execute();
  // Only an empty page needs to know why.
  if (rows.length === 0) await requireMenu(database, params.menu_id, caller);
  const { body, headers } = page(rows, wanted, url);
  return ok(body, headers);
}

function matches(q: string) {
  const pattern = sql`'%' || regexp_replace(search_text(${q}), '([\\\\%_])', '\\\\\\1', 'g') || '%'`;
  return sql<boolean>`search_text(name || ' ' || description) like ${pattern}`;
}
