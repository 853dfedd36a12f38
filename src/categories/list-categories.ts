import { build, type Param, statement } from '../db/statement.ts';
import type { Call, Reply } from '../http/handler.ts';
import { type PageRequest, page, pageRequest } from '../http/pagination.ts';
import { ok } from '../http/reply.ts';
import { type MenuKey, requireMenu } from '../records/menu-reach.ts';
import { reachOf, withinReach } from '../records/reach.ts';
import { categoryJson } from './category.ts';

export async function listCategories({
  database,
  params,
  query,
  caller,
  url,
}: Call<'listCategories'>): Promise<Reply<'listCategories'>> {
  const wanted = pageRequest(query);
  const key = { ...params, ...reachOf(caller) };
  const rows = await selectCategories(database, { ...key, ...wanted });
  // Only an empty page needs to know why.
  if (rows.length === 0) await requireMenu(database, key);
  const { body, headers } = page(rows, wanted, url);
  return ok(body, headers);
}

const selectCategories = statement('categories.listCategories', (p: Param<MenuKey & PageRequest>) =>
  build
    .selectFrom('category')
    .select(['category_id as id', categoryJson().as('resource')])
    .where('menu_id', '=', p('menu_id', 'bigint'))
    .where(withinReach(p, 'category'))
    .where('category_id', '>', p('after', 'bigint'))
    .orderBy('category_id')
    .limit(p('limit', 'bigint')),
);
