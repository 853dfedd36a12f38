import { type Database, inTransaction } from '../db/database.ts';
import { data } from '../db/json.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { acceptedETags, requireMatch } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import { type ItemKey, itemJson, itemKey, items, requireItem } from '../items/item.ts';
import { isReachable } from '../records/record-kind.ts';
import { change, changedFields, raised, type Written, write, written } from '../records/write.ts';
import { lockGroups, takeTurn } from './lock.ts';
import { noteShowingMenus } from './shown-groups.ts';
import { noteUses, requireMeetable, sameUses, wantedUses } from './uses.ts';

/** Sets the whole list of groups that an item offers, in one transaction with its event. */
export async function setItemModifierGroups(
  call: Call<'setItemModifierGroups'>,
): Promise<Reply<'setItemModifierGroups'>> {
  const { params, caller, headers, body, requestId } = call;
  const key = itemKey(params, caller);
  const wanted = wantedUses(body);
  const if_match = acceptedETags(headers['if-match']);
  const { etag, resource } = await inTransaction(call.database, async (database) => {
    const place = await requirePlace(database, key);
    await takeTurn(database, place);
    const [item] = await lockItem(database, key);
    if (!item) {
      await requirePlace(database, key);
      throw new Error('the item is not held');
    }
    requireMatch(if_match, item.etag);
    await requireMeetable(database, place, wanted);
    if (sameUses(item.modifier_groups, wanted)) return item;
    await lockGroups(database, place);
    const uses = JSON.stringify(wanted);
    const [changed] = await set(database, { ...key, uses, ...written(requestId) });
    if (!changed) throw new Error('the item that is held was not changed');
    await noteUses(database, { account_id: key.account_id, items: [key.item_id], modifiers: [] });
    await noteShowingMenus(database, place);
    return changed;
  });
  return ok(data(resource), { ETag: etag });
}

/** @throws 404 or 403 when the caller finds no such item in this menu. */
async function requirePlace(database: Database, key: ItemKey) {
  const [place] = await selectPlace(database, key);
  if (place) return place;
  await requireItem(database, key);
  // It came within reach between the two looks.
  return requirePlace(database, key);
}

const selectPlace = statement('modifierGroups.placeOfItem', (p: Param<ItemKey>) =>
  build.selectFrom('item').select(['account_id', 'location_id']).where(isReachable(items, p)),
);

const lockItem = statement('modifierGroups.lockItem', (p: Param<ItemKey>) =>
  build
    .selectFrom('item')
    .select([items.eTag().as('etag'), itemJson().as('resource'), 'modifier_groups'])
    .where(isReachable(items, p))
    .forNoKeyUpdate(),
);

type Values = ItemKey & Written & { /** JSON. */ uses: string };

const set = write(
  'modifierGroups.setItemModifierGroups',
  (p: Param<Values>) =>
    build
      .updateTable('item')
      .set({ modifier_groups: p('uses', 'json'), ...raised(p, 'item') })
      .where(isReachable(items, p))
      .returning([
        // It says nothing of the availability, so neither do its old values.
        ...change(items, 'item.updated', { previous: changedFields(items) }),
        items.eTag('new').as('etag'),
      ]),
  ['etag', 'resource'],
);
