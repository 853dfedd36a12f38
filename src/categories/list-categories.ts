import { type Reach, reachOf, withinReach } from '../records/reach.ts';
import { build, statement } from '../db/statement.ts';
import type { Call, Reply } from '../http/handler.ts';
import { type ListRow, type PageRequest, page, pageRequest } from '../http/pagination.ts';
import { ok } from '../http/reply.ts';
import { requireMenu } from '../menus/menu.ts';
import { type Category, categoryJson } from './category.ts';

export async function listCategories({
  database,
  params,
  query,
  caller,
  url,
}: Call<'listCategories'>): Promise<Reply<'listCategories'>> {
  const wanted = pageRequest(query);
  const rows = await selectCategories(database, { ...params, ...wanted, ...reachOf(caller) });
  // Only an empty page needs to know why.
  if (rows.length === 0) await requireMenu(database, params.menu_id, caller);
  const { body, headers } = page(rows, wanted, url);
  return ok(body, headers);
}

const selectCategories = statement<{ menu_id: number } & PageRequest & Reach, ListRow<Category>>((p) =>
  build
    .selectFrom('category')
    .select(['category_id as id', categoryJson().as('resource')])
    .where('menu_id', '=', p('menu_id', 'bigint'))
    .where(withinReach(p, 'category'))
    .where('category_id', '>', p('after', 'bigint'))
    .orderBy('category_id')
    .limit(p('limit', 'bigint')),
);
