import { sql } from 'kysely';
import { type AnyJson, data, jsonObject, rfc3339 } from '../db/json.ts';
import { build, type Param } from '../db/statement.ts';
import { acceptedETags, eTagMatches, type IfMatch, requireWritten } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import { isReachable } from '../records/record-kind.ts';
import { change, type Written, write } from '../records/write.ts';
import { hasReturned, type ItemKey, isAvailable, itemETag, itemKey, items, requireItem } from './item.ts';

/** Flips what the item's readers see at this moment, in one statement with its event. */
export async function toggleItem(call: Call<'toggleItem'>): Promise<Reply<'toggleItem'>> {
  const { database, params, caller, headers, requestId } = call;
  const key = itemKey(params, caller);
  const if_match = acceptedETags(headers['if-match']);
  const toggled = await toggle(database, { ...key, if_match, request_id: requestId });
  const { etag, resource } = await requireWritten(toggled, () => requireItem(database, key));
  return ok(data(resource), { ETag: etag });
}

// A planned return that is given up belongs to what was changed.
const previous = sql<AnyJson>`case
  when old.unavailable_until is null or ${hasReturned('old')}
  then ${jsonObject({ is_available: isAvailable('old') })}
  else ${jsonObject({ is_available: isAvailable('old'), unavailable_until: rfc3339(sql<Date>`old.unavailable_until`) })}
  end`;

const toggle = write(
  'items.toggleItem',
  (p: Param<ItemKey & IfMatch & Written>) =>
    build
      .updateTable('item')
      .set({
        is_available: sql`not ${isAvailable()}`,
        unavailable_until: null,
        version: sql`item.version + 1`,
        updated_at: sql`clock_timestamp()`,
      })
      .where(isReachable(items, p))
      .where(eTagMatches(p, itemETag()))
      .returning([...change(items, 'item.toggled', { previous }), itemETag('new').as('etag')]),
  ['etag', 'resource'],
);
