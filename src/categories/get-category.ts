import { data } from '../db/json.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { isCurrent } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { notModified, ok } from '../http/reply.ts';
import { requireReach, withinReach } from '../records/reach.ts';
import { isAtPath, isReachable } from '../records/record-kind.ts';
import { type CategoryKey, categories, categoryDetailJson, categoryETag, categoryKey } from './category.ts';

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
    const [current] = await selectETag(database, key);
    if (current && isCurrent(ifNoneMatch, current.etag)) return notModified(current.etag);
  }
  const [found] = await selectCategory(database, key);
  const row = requireReach(found, 'category');
  return ok(data(row.resource), { ETag: row.etag });
}

const selectETag = statement('categories.getCategory.etag', (p: Param<CategoryKey>) =>
  build.selectFrom('category').select(categoryETag().as('etag')).where(isReachable(categories, p)),
);

const selectCategory = statement('categories.getCategory', (p: Param<CategoryKey>) =>
  build
    .selectFrom('category')
    .select([
      withinReach(p, 'category').as('within_reach'),
      categoryETag().as('etag'),
      categoryDetailJson().as('resource'),
    ])
    .where(isAtPath(categories, p)),
);
