import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { data } from '../db/json.ts';
import { type Param, statement } from '../db/statement.ts';
import { parameterError } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { created } from '../http/reply.ts';
import { currencyDecimals, hasDecimals, heldCurrency, tooPrecise } from '../locations/currency.ts';
import { creationInMenu } from '../records/create-in-menu.ts';
import { type MenuKey, requireMenu } from '../records/menu-reach.ts';
import { reachOf } from '../records/reach.ts';
import { isReachable } from '../records/record-kind.ts';
import { firstNotes } from '../records/switches.ts';
import { written } from '../records/write.ts';
import { sensible } from './availability.ts';
import { type Item, itemDefaults, itemFields, itemLimit, items, notInMenu } from './item.ts';
import { searchColumns } from './search.ts';

/**
 * Creates an item in a menu, in one statement with its event.
 * @throws 404 or 403 for the menu, 422 for the category or the price
 */
export async function createItem(call: Call<'createItem'>): Promise<Reply<'createItem'>> {
  const { database, params, caller, requestId } = call;
  const body = sensible(call.body);
  const is_available = body.is_available ?? body.unavailable_until == null;

  const key = { ...params, ...reachOf(caller) };
  const [item] = await insert(database, {
    ...key,
    ...itemDefaults,
    ...body,
    is_available,
    ...firstNotes(is_available, caller.clientId),
    name: body.name.trim(),
    ...written(requestId),
  });
  if (!item) {
    await requireMenu(database, key);
    await requireTerms(database, { ...key, category_id: body.category_id, price: body.price });
    // The category or the currency has changed in between.
    return createItem(call);
  }
  const location = `/api/v1/menus/${params.menu_id}/items/${item.id}`;
  return created(data(item.resource), { ETag: item.etag, Location: location });
}

type CategoryPath = MenuKey & { category_id: number };
const { category_id: _inherited, ...described } = itemFields;
const fields = { ...described, unavailable_since: 'timestamptz', unavailable_by: 'text' } as const;
type NewItem = Pick<Item, Exclude<keyof typeof fields, 'sort_order'>> & { sort_order: number | null };

const insert = creationInMenu<CategoryPath, NewItem, Item>(
  {
    name: 'items.createItem',
    kind: items,
    parent: {
      table: 'category',
      path: ['category_id', 'menu_id'],
      inherited: ['menu_id', 'category_id'],
      held: true,
    },
    fields,
    terms: {
      find: heldCurrency(sql`select location_id, account_id from home`),
      allow: (p) => hasDecimals(p('price', fields.price), sql.ref('terms.decimals')),
      assign: (p) => ({
        price: sql`round(${p('price', fields.price)}, terms.decimals)`,
        ...searchColumns(p('name', fields.name), p('description', fields.description)),
      }),
    },
  },
  itemLimit,
);

/** @throws 422 if the menu has no such category, or if the price has more decimal places than the currency. */
async function requireTerms(database: Database, values: CategoryPath & { price: number }): Promise<void> {
  const [home] = await selectCurrency(database, values);
  if (!home) throw notInMenu();
  if (home.is_too_precise) throw parameterError([tooPrecise('/price', home.currency)]);
}

const selectCurrency = statement(
  'items.createItem.currency',
  (p: Param<CategoryPath & { price: number }>) => sql<{ currency: string; is_too_precise: boolean }>`
    select currency, not ${hasDecimals(p('price', fields.price), currencyDecimals(sql.ref('currency')))} as is_too_precise
    from location join category using (location_id, account_id)
    where ${isReachable({ table: 'category', path: ['category_id', 'menu_id'] }, p)}`,
);
