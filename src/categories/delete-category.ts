import { sql } from 'kysely';
import { withinReach } from '../records/reach.ts';
import { build, statement } from '../db/statement.ts';
import { recordEvents } from '../records/write.ts';
import { acceptedTags, tagMatches } from '../http/conditional.ts';
import { preconditionFailed } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { noContent } from '../http/reply.ts';
import { changedItem } from '../items/item.ts';
import { touchMenus } from '../menus/menu.ts';
import { type CategoryKey, categoryKey, categoryTag, changedCategory, requireCategory } from './category.ts';

/**
 * Deletes the category and its items, in one statement with an event for each. The category is locked before that
 * statement begins: then nobody can put anything in, and the statement sees all there is.
 */
export async function deleteCategory(call: Call<'deleteCategory'>): Promise<Reply<'deleteCategory'>> {
  const { database, params, caller, headers, requestId, eventCommitted } = call;
  const key = categoryKey(params, caller);
  const values = { ...key, if_match: acceptedTags(headers['if-match']), request_id: requestId };
  const [deleted] = await database.transaction().execute(async (transaction) => {
    await lock(transaction, key);
    return deleteRows(transaction, values);
  });
  if (!deleted) {
    await requireCategory(database, key);
    throw preconditionFailed();
  }
  eventCommitted();
  return noContent();
}

const lock = statement<CategoryKey, { category_id: number }>((p) =>
  build
    .selectFrom('category')
    .select('category_id')
    .where('category_id', '=', p('category_id', 'bigint'))
    .where('menu_id', '=', p('menu_id', 'bigint'))
    .where(withinReach(p, 'category'))
    .forUpdate(),
);

const deleteRows = statement<
  CategoryKey & { if_match: string[] | null; request_id: string },
  { record: unknown }
>((p) =>
  build
    .with('home', (db) =>
      db
        .selectFrom('category')
        .select(['category_id', 'account_id'])
        .where('category_id', '=', p('category_id', 'bigint'))
        .where('menu_id', '=', p('menu_id', 'bigint'))
        .where(withinReach(p, 'category'))
        .where(tagMatches(p, categoryTag())),
    )
    .with('dishes', (db) =>
      db
        .selectFrom('item')
        .select(['item_id', 'account_id'])
        .where('category_id', 'in', (db) => db.selectFrom('home').select('category_id'))
        .orderBy('item_id')
        .forUpdate('item'),
    )
    .with('items', (db) =>
      db
        .deleteFrom('item')
        .where(sql<boolean>`(item_id, account_id) in (select item_id, account_id from dishes)`)
        .returning(changedItem(sql`array['item.deleted']`, undefined, 'old')),
    )
    .with('categories', (db) =>
      db
        .deleteFrom('category')
        .where(sql<boolean>`(category_id, account_id) in (select category_id, account_id from home)`)
        .returning(changedCategory(sql`array['category.deleted']`, undefined, 'old')),
    )
    .with('changed', (db) =>
      db
        .selectFrom('items')
        .selectAll()
        .unionAll((db) => db.selectFrom('categories').selectAll()),
    )
    .with('recorded', () => recordEvents('changed', p))
    .with('touched', () => touchMenus('changed'))
    .selectFrom('categories')
    .select('record'),
);
