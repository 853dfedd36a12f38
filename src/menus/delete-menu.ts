import { sql } from 'kysely';
import { reachOf, withinReach } from '../records/reach.ts';
import { changedCategory } from '../categories/category.ts';
import type { Database } from '../db/database.ts';
import { build, statement } from '../db/statement.ts';
import { recordEvents } from '../records/write.ts';
import { acceptedTags, tagMatches } from '../http/conditional.ts';
import { preconditionFailed } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { noContent } from '../http/reply.ts';
import { changedItem } from '../items/item.ts';
import { lockContent } from './lock-content.ts';
import { changedMenu, type MenuKey, menuTag, requireMenu } from './menu.ts';

/** Deletes the menu, its categories and its items, in one statement with an event for each. */
export async function deleteMenu(call: Call<'deleteMenu'>): Promise<Reply<'deleteMenu'>> {
  const { database, params, caller, headers, requestId, eventCommitted } = call;
  const values = {
    ...params,
    ...reachOf(caller),
    if_match: acceptedTags(headers['if-match']),
    request_id: requestId,
  };
  for (;;) {
    const { deleted, grown } = await database
      .transaction()
      .execute((transaction) => deleteLocked(transaction, values));
    if (deleted) {
      eventCommitted();
      return noContent();
    }
    if (grown) continue;
    await requireMenu(database, params.menu_id, caller);
    throw preconditionFailed();
  }
}

type Values = MenuKey & { if_match: string[] | null; request_id: string };

/**
 * Everything is locked before the delete begins, so that it sees all there is. A category that came in before the
 * menu was locked is not locked itself, and would be out of order now: nothing is deleted then.
 */
async function deleteLocked(transaction: Database, values: Values): Promise<Outcome> {
  const locked = await lockContent(transaction, values);
  if (!locked) return { deleted: false, grown: false };
  const [outcome] = await deleteRows(transaction, { ...values, locked: locked.categories });
  if (!outcome) throw new Error('the delete returned no outcome');
  return outcome;
}

interface Outcome {
  deleted: boolean;
  /** Whether there are more categories than are locked. */
  grown: boolean;
}

const deleteRows = statement<Values & { locked: number }, Outcome>((p) => {
  const grown = sql<boolean>`(
    select count(*) from category
    where menu_id = ${p('menu_id', 'bigint')} and ${withinReach(p, 'category')}) > ${p('locked', 'bigint')}`;
  return build
    .with('home', (db) =>
      db
        .selectFrom('menu')
        .select(['menu_id', 'account_id'])
        .where('menu_id', '=', p('menu_id', 'bigint'))
        .where(withinReach(p, 'menu'))
        .where(tagMatches(p, menuTag()))
        .where(sql<boolean>`not ${grown}`),
    )
    .with('items', (db) =>
      db
        .deleteFrom('item')
        .where(sql<boolean>`(menu_id, account_id) in (select menu_id, account_id from home)`)
        .returning(changedItem(sql`array['item.deleted']`, undefined, 'old')),
    )
    .with('categories', (db) =>
      db
        .deleteFrom('category')
        .where(sql<boolean>`(menu_id, account_id) in (select menu_id, account_id from home)`)
        .returning(changedCategory(sql`array['category.deleted']`, undefined, 'old')),
    )
    .with('menus', (db) =>
      db
        .deleteFrom('menu')
        .where(sql<boolean>`(menu_id, account_id) in (select menu_id, account_id from home)`)
        .returning(changedMenu(sql`array['menu.deleted']`, undefined, 'old')),
    )
    .with('changed', (db) =>
      db
        .selectFrom('items')
        .selectAll()
        .unionAll((db) => db.selectFrom('categories').selectAll())
        .unionAll((db) => db.selectFrom('menus').selectAll()),
    )
    .with('recorded', () => recordEvents('changed', p))
    .selectNoFrom([sql<boolean>`exists (select from menus)`.as('deleted'), grown.as('grown')]);
});
