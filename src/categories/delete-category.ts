import { sql } from 'kysely';
import { build, type Param, statement } from '../db/statement.ts';
import { acceptedETags, eTagMatches, type IfMatch, requireWritten } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { noContent } from '../http/reply.ts';
import { items } from '../items/item.ts';
import { isReachable } from '../records/record-kind.ts';
import { change, type Written, write, written } from '../records/write.ts';
import { type CategoryKey, categories, categoryETag, categoryKey, requireCategory } from './category.ts';

/**
 * Deletes the category and its items, in one statement with an event for each. The category is locked before that
 * statement begins, so that nothing can be added and the statement sees all its items.
 */
export async function deleteCategory(call: Call<'deleteCategory'>): Promise<Reply<'deleteCategory'>> {
  const { database, params, caller, headers, requestId } = call;
  const key = categoryKey(params, caller);
  const values = { ...key, if_match: acceptedETags(headers['if-match']), ...written(requestId) };
  const deleted = await database.transaction().execute(async (transaction) => {
    await lock(transaction, key);
    return deleteWithItems(transaction, values);
  });
  await requireWritten(deleted, () => requireCategory(database, key));
  return noContent();
}

const lock = statement('categories.deleteCategory.lock', (p: Param<CategoryKey>) =>
  build.selectFrom('category').select('category_id').where(isReachable(categories, p)).forUpdate(),
);

const deleteWithItems = write(
  'categories.deleteCategory',
  (p: Param<CategoryKey & IfMatch & Written>) => {
    const condition = sql<boolean>`${isReachable(categories, p)} and ${eTagMatches(p, categoryETag())}`;
    return [
      build
        .with('doomed', (db) =>
          db
            .selectFrom('item')
            .select(['item_id', 'account_id'])
            .where('category_id', 'in', (db) =>
              db.selectFrom('category').select('category_id').where(condition),
            )
            .orderBy('item_id')
            .forUpdate('item'),
        )
        .deleteFrom('item')
        .where(sql<boolean>`(item_id, account_id) in (select item_id, account_id from doomed)`)
        .returning(change(items, 'item.deleted', { row: 'old' })),
      build
        .deleteFrom('category')
        .where(condition)
        .returning(change(categories, 'category.deleted', { row: 'old' })),
    ];
  },
  ['record'],
);
