import { sql } from 'kysely';
import { data } from '../db/json.ts';
import { build, type Param } from '../db/statement.ts';
import { acceptedETags, eTagMatches, type IfMatch, requireWritten } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import { isAvailable } from '../records/absence.ts';
import { isReachable } from '../records/record-kind.ts';
import { absenceNotes, previousOfToggle, type Switching } from '../records/switches.ts';
import { change, raised, type Written, write, written } from '../records/write.ts';
import { type ItemKey, itemKey, items, requireItem } from './item.ts';
import { sharedToggle } from './shared-toggle.ts';

/** Flips the availability that readers of the item see at this moment, in one statement with its event. */
export async function toggleItem(call: Call<'toggleItem'>): Promise<Reply<'toggleItem'>> {
  const { database, params, caller, headers, requestId } = call;
  const key = itemKey(params, caller);
  const if_match = acceptedETags(headers['if-match']);
  const values = { ...key, if_match, client_id: caller.clientId, ...written(requestId) };
  const toggled = await (if_match ? toggle : toggleShared)(database, values);
  const { etag, resource } = await requireWritten(toggled, () => requireItem(database, key));
  return ok(data(resource), { ETag: etag });
}

const toggle = write(
  'items.toggleItem',
  (p: Param<ItemKey & IfMatch & Written & Switching>) =>
    build
      .updateTable('item')
      .set({
        is_available: sql`not ${isAvailable('item')}`,
        unavailable_until: null,
        ...absenceNotes(p, 'item', sql`not ${isAvailable('item')}`),
        ...raised(p, 'item'),
      })
      .where(isReachable(items, p))
      .where(eTagMatches(p, items.eTag()))
      .returning([
        ...change(items, 'item.toggled', { previous: previousOfToggle }),
        items.eTag('new').as('etag'),
      ]),
  ['etag', 'resource'],
);

const toggleShared = sharedToggle(toggle);
