import { sql } from 'kysely';
import { withinReach } from '../records/reach.ts';
import { build, statement } from '../db/statement.ts';
import { recordEvents } from '../records/write.ts';
import { acceptedTags, tagMatches } from '../http/conditional.ts';
import { preconditionFailed } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { type AnyJson, data, type Json, jsonObject, rfc3339 } from '../db/json.ts';
import { ok } from '../http/reply.ts';
import { touchMenus } from '../menus/menu.ts';
import {
  available,
  changedItem,
  type Item,
  type ItemKey,
  itemKey,
  itemTag,
  lapsed,
  requireItem,
} from './item.ts';

/** Flips what the item's readers see at this moment, in one statement with its event. */
export async function toggleItem(call: Call<'toggleItem'>): Promise<Reply<'toggleItem'>> {
  const { database, params, caller, headers, requestId, eventCommitted } = call;
  const key = itemKey(params, caller);
  const if_match = acceptedTags(headers['if-match']);
  const [row] = await toggle(database, { ...key, if_match, request_id: requestId });
  if (!row) {
    await requireItem(database, key);
    throw preconditionFailed();
  }
  eventCommitted();
  return ok(data(row.item), { ETag: row.etag });
}

// A planned return that is given up belongs to what was changed.
const previous = sql<AnyJson>`case
  when old.unavailable_until is null or ${lapsed('old')}
  then ${jsonObject({ is_available: available('old') })}
  else ${jsonObject({ is_available: available('old'), unavailable_until: rfc3339(sql<Date>`old.unavailable_until`) })}
  end`;

const toggle = statement<
  ItemKey & { if_match: string[] | null; request_id: string },
  { etag: string; item: Json<Item> }
>((p) =>
  build
    .with('changed', (db) =>
      db
        .updateTable('item')
        .set({
          is_available: sql`not ${available()}`,
          unavailable_until: null,
          version: sql`item.version + 1`,
          updated_at: sql`clock_timestamp()`,
        })
        .where('item_id', '=', p('item_id', 'bigint'))
        .where('menu_id', '=', p('menu_id', 'bigint'))
        .where(withinReach(p, 'item'))
        .where(tagMatches(p, itemTag()))
        .returning([...changedItem(sql`array['item.toggled']`, previous), itemTag('new').as('etag')]),
    )
    .with('recorded', () => recordEvents('changed', p))
    .with('touched', () => touchMenus('changed'))
    .selectFrom('changed')
    .select(['etag', sql<Json<Item>>`data`.as('item')]),
);
