import { build, filteredStatement } from '../db/statement.ts';
import type { Call, Reply } from '../http/handler.ts';
import { type ListRow, type PageRequest, pageRequest, pageResponse } from '../http/pagination.ts';
import { type MenuKey, requireMenu } from '../records/menu-reach.ts';
import { reachOf, withinReach } from '../records/reach.ts';
import { isUpdatedSince } from '../records/updated-since.ts';
import { type Category, categoryJson } from './category.ts';

/** A page of the categories of a menu, by id. @throws 404 or 403 for the menu */
export async function listCategories(call: Call<'listCategories'>): Promise<Reply<'listCategories'>> {
  const { database, params, query, caller } = call;
  const wanted = pageRequest(query);
  const key = { ...params, ...reachOf(caller) };
  const rows = await selectCategories(database, { ...key, ...wanted, updated_since: query.updated_since });
  // Only an empty page needs to know why.
  if (rows.length === 0) await requireMenu(database, key);
  return pageResponse(rows, wanted, call);
}

type Values = MenuKey & PageRequest & { updated_since?: string | undefined };

const selectCategories = filteredStatement<Values, ListRow<Category>, 'updated_since'>(
  'categories.listCategories',
  ['updated_since'],
  (p, present) =>
    build
      .selectFrom('category')
      .select(['category_id as id', categoryJson().as('resource')])
      .where('menu_id', '=', p('menu_id', 'bigint'))
      .where(withinReach(p, 'category'))
      .where('category_id', '>', p('after', 'bigint'))
      .$if(present.includes('updated_since'), (categories) => categories.where(isUpdatedSince(p)))
      .orderBy('category_id')
      .limit(p('limit', 'bigint')),
);
