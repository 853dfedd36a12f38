import { sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import { data } from '../db/json.ts';
import type { Param } from '../db/statement.ts';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import { priceUpdate } from '../locations/price-update.ts';
import { requireScopeFor } from '../records/absence.ts';
import { absenceNotes, isOnAfter, nextAvailability, type Switching } from '../records/switches.ts';
import {
  type Fields,
  isPresent,
  type NextValues,
  partialUpdate,
  type UpdateSpec,
} from '../records/update.ts';
import { sensible } from './availability.ts';
import {
  type Item,
  type ItemKey,
  itemEventTypes,
  itemFields,
  itemKey,
  items,
  previousOfItem,
  requireItem,
} from './item.ts';
import { withReturn } from './planned-return.ts';
import { searchColumns } from './search.ts';
import { sharedUpdate } from './shared-update.ts';

type ItemUpdate = Omit<components['schemas']['ItemUpdate'], 'restore'>;

/** Changes the fields present in the body, in one statement with its events. */
export async function updateItem(call: Call<'updateItem'>): Promise<Reply<'updateItem'>> {
  const { params, caller } = call;
  requireScopeFor(call.body, caller);
  const key = { ...itemKey(params, caller), client_id: caller.clientId };
  const body = await withReturn(call.database, key, sensible(call.body));
  const { etag, resource } = await update(call, key, body);
  return ok(data(resource), { ETag: etag });
}

const price = priceUpdate(items);

const spec: UpdateSpec<ItemKey & Switching, ItemUpdate, Item> = {
  name: 'items.updateItem',
  kind: items,
  fields: itemFields,
  require: requireItem,
  eventTypes: itemEventTypes,
  previous: previousOfItem,
  next: (p) => nextAvailability(p, 'item'),
  assign: (p) => ({
    ...lockedCategory(p),
    ...absenceNotes(p, 'item', isOnAfter(p, 'item')),
    price: price.assigned(p),
    ...searchable(p),
  }),
  terms: price.terms,
};

const update = partialUpdate(spec, (alone) => sharedUpdate(spec, alone));

function searchable(p: Param<Values>): NextValues {
  const text = (field: 'name' | 'description') =>
    sql`case when ${isPresent(p, field)} then ${p(field, itemFields[field])} else ${sql.ref(`item.${field}`)} end`;
  const made = Object.entries(searchColumns(text('name'), text('description'))).map(([column, value]) => [
    column,
    sql`case when ${isPresent(p, 'name')} or ${isPresent(p, 'description')}
      then ${value} else ${sql.ref(`item.${column}`)} end`,
  ]);
  return Object.fromEntries(made);
}

type Values = ItemKey & Fields<ItemUpdate>;

// The new category is locked here, before the item, in the order of every write. Its foreign key would lock it last,
// after the menu.
function lockedCategory(p: Param<Values>): NextValues {
  const category_id = sql`case when ${isPresent(p, 'category_id')} then coalesce(
    (select category_id from category
      where category_id = ${p('category_id', 'bigint')} and menu_id = ${p('menu_id', 'bigint')}
        and account_id = ${p('account_id', 'bigint')} for key share),
    ${p('category_id', 'bigint')}) else item.category_id end`;
  return { category_id };
}
