import { sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import { data } from '../db/json.ts';
import type { Param } from '../db/statement.ts';
import { insufficientScope } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import { type Fields, isPresent, type NextValues, partialUpdate } from '../records/update.ts';
import { itemEventTypes, previousFields, requireSensibleAbsence } from './availability.ts';
import {
  availabilityFields,
  hasReturned,
  type Item,
  type ItemKey,
  itemFields,
  itemKey,
  items,
  pendingReturn,
  requireItem,
} from './item.ts';

type ItemUpdate = components['schemas']['ItemUpdate'];

/** Changes the fields present in the body, in one statement with its events. */
export async function updateItem(call: Call<'updateItem'>): Promise<Reply<'updateItem'>> {
  const { params, body, caller } = call;
  requireScope(call);
  requireSensibleAbsence(body);
  const { etag, resource } = await update(call, itemKey(params, caller), body);
  return ok(data(resource), { ETag: etag });
}

// The contract lets availability:write do this call; a schema cannot say for which bodies.
function requireScope({ caller, body }: Call<'updateItem'>): void {
  const describes = Object.keys(body).some((field) => !availabilityFields.includes(field));
  if (describes && !caller.scopes.has('menus:write')) throw insufficientScope(['menus:write']);
}

const update = partialUpdate<ItemKey, ItemUpdate, Item>({
  name: 'items.updateItem',
  kind: items,
  fields: itemFields,
  require: requireItem,
  eventTypes: itemEventTypes(),
  previous: previousFields(),
  next: nextAvailability,
  assign: lockedCategory,
});

/** What becomes of the availability, where each field depends on the other. */
function nextAvailability(p: Param<ItemKey & Fields<ItemUpdate>>): NextValues {
  const until = p('unavailable_until', 'timestamptz');
  // A later change of the availability ends an earlier "until".
  const is_available = sql<boolean>`case
    when ${isPresent(p, 'is_available')} then ${p('is_available', 'boolean')}
    when ${until} is not null then false
    else item.is_available or ${hasReturned()} end`;
  const unavailable_until = sql`case
    when ${is_available} then null
    when ${isPresent(p, 'unavailable_until')} then ${until}
    else ${pendingReturn()} end`;
  return { is_available, unavailable_until };
}

// The new category is locked here, before the item, as every write locks. By its foreign key it would be locked last,
// after the menu.
function lockedCategory(p: Param<ItemKey & Fields<ItemUpdate>>): NextValues {
  const category_id = sql`case when ${isPresent(p, 'category_id')} then coalesce(
    (select category_id from category
      where category_id = ${p('category_id', 'bigint')} and menu_id = ${p('menu_id', 'bigint')}
        and account_id = ${p('account_id', 'bigint')} for key share),
    ${p('category_id', 'bigint')}) else item.category_id end`;
  return { category_id };
}
