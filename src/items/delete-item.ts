import { sql } from 'kysely';
import { withinReach } from '../records/reach.ts';
import { build, statement } from '../db/statement.ts';
import { recordEvents } from '../records/write.ts';
import { acceptedTags, tagMatches } from '../http/conditional.ts';
import { preconditionFailed } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { noContent } from '../http/reply.ts';
import { touchMenus } from '../menus/menu.ts';
import { changedItem, type ItemKey, itemKey, itemTag, requireItem } from './item.ts';

export async function deleteItem(call: Call<'deleteItem'>): Promise<Reply<'deleteItem'>> {
  const { database, params, caller, headers, requestId, eventCommitted } = call;
  const key = itemKey(params, caller);
  const if_match = acceptedTags(headers['if-match']);
  const [deleted] = await deleteRow(database, { ...key, if_match, request_id: requestId });
  if (!deleted) {
    await requireItem(database, key);
    throw preconditionFailed();
  }
  eventCommitted();
  return noContent();
}

const deleteRow = statement<ItemKey & { if_match: string[] | null; request_id: string }, { record: unknown }>(
  (p) =>
    build
      .with('changed', (db) =>
        db
          .deleteFrom('item')
          .where('item_id', '=', p('item_id', 'bigint'))
          .where('menu_id', '=', p('menu_id', 'bigint'))
          .where(withinReach(p, 'item'))
          .where(tagMatches(p, itemTag()))
          .returning(changedItem(sql`array['item.deleted']`, undefined, 'old')),
      )
      .with('recorded', () => recordEvents('changed', p))
      .with('touched', () => touchMenus('changed'))
      .selectFrom('changed')
      .select('record'),
);
