import { requireReach, withinReach } from '../records/reach.ts';
import { build, statement } from '../db/statement.ts';
import { isCurrent } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { data, type Json } from '../db/json.ts';
import { notModified, ok } from '../http/reply.ts';
import {
  type CategoryDetail,
  type CategoryKey,
  categoryDetailJson,
  categoryKey,
  categoryTag,
} from './category.ts';

/** The category with its items in one query; a client whose copy is current costs no building of the body. */
export async function getCategory({
  database,
  params,
  caller,
  headers,
}: Call<'getCategory'>): Promise<Reply<'getCategory'>> {
  const key = categoryKey(params, caller);
  const ifNoneMatch = headers['if-none-match'];
  if (ifNoneMatch !== undefined) {
    const [current] = await selectTag(database, key);
    if (current && isCurrent(ifNoneMatch, current.etag)) return notModified(current.etag);
  }
  const [found] = await selectCategory(database, key);
  const row = requireReach(found, 'category');
  return ok(data(row.category), { ETag: row.etag });
}

const selectTag = statement<CategoryKey, { etag: string }>((p) =>
  build
    .selectFrom('category')
    .select(categoryTag().as('etag'))
    .where('category_id', '=', p('category_id', 'bigint'))
    .where('menu_id', '=', p('menu_id', 'bigint'))
    .where(withinReach(p, 'category')),
);

const selectCategory = statement<
  CategoryKey,
  { within_reach: boolean; etag: string; category: Json<CategoryDetail> }
>((p) =>
  build
    .selectFrom('category')
    .select([
      withinReach(p, 'category').as('within_reach'),
      categoryTag().as('etag'),
      categoryDetailJson().as('category'),
    ])
    .where('category_id', '=', p('category_id', 'bigint'))
    .where('menu_id', '=', p('menu_id', 'bigint')),
);
