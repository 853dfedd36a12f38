import { type Expression, type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import type { Caller } from '../accounts/caller.ts';
import { type Reach, reachOf, requireReach, withinReach } from '../records/reach.ts';
import type { Database } from '../db/database.ts';
import { build, statement } from '../db/statement.ts';
import { change, type EventType, noPrevious } from '../records/write.ts';
import { type AnyJson, columns, created, type Json, jsonObject, rfc3339 } from '../db/json.ts';

export type Item = components['schemas']['Item'];

/** Path of one item and who asks: the values that every statement on one item takes. */
export interface ItemKey extends Reach {
  menu_id: number;
  item_id: number;
}

export function itemKey(params: { menu_id: number; item_id: number }, caller: Caller): ItemKey {
  return { menu_id: params.menu_id, item_id: params.item_id, ...reachOf(caller) };
}

/**
 * A row of `item` as the API shows it. An item whose `unavailable_until` has passed reads as available, also
 * before a worker has written so.
 */
export function itemJson(row = 'item'): RawBuilder<Json<Item>> {
  const item = columns('item', row);
  const until = sql<Date | null>`case when not ${lapsed(row)} then ${item.unavailable_until} end`;
  return jsonObject<Item>({
    ...itemFields(row),
    is_available: available(row),
    unavailable_until: rfc3339(until),
  });
}

/** A row of `item` with its availability as it is stored, which is what the last event told. */
export function storedItemJson(row: string): RawBuilder<Json<Item>> {
  return jsonObject<Item>(itemFields(row));
}

/** Whether the item is available at this moment. */
export function available(row = 'item'): RawBuilder<boolean> {
  return sql`(${columns('item', row).is_available} or ${lapsed(row)})`;
}

/** Whether the time of the item's absence is over. */
export function lapsed(row = 'item'): RawBuilder<boolean> {
  return sql`coalesce(${columns('item', row).unavailable_until} <= now(), false)`;
}

/** The ETag of an item, quotes included. */
export function itemTag(row = 'item'): RawBuilder<string> {
  return sql`'"' || ${columns('item', row).version} || case when ${lapsed(row)} then '-restored' else '' end || '"'`;
}

/** What the CTE that writes items returns for recordEvents; `row` is 'old' when it deletes. */
export function changedItem(
  eventTypes: Expression<EventType[]>,
  previous: Expression<AnyJson | null> = noPrevious,
  row: 'new' | 'old' = 'new',
): ReturnType<typeof change> {
  const item = columns('item', row);
  return change({
    account_id: item.account_id,
    location_id: item.location_id,
    menu_id: item.menu_id,
    record: sql`'item:' || ${item.item_id}`,
    event_types: eventTypes,
    data: itemJson(row),
    previous,
  });
}

/** @throws 404 or 403 when the caller finds no such item in this menu. */
export async function requireItem(database: Database, key: ItemKey): Promise<void> {
  const [row] = await selectReach(database, key);
  requireReach(row, 'item');
}

const selectReach = statement<ItemKey, { within_reach: boolean }>((p) =>
  build
    .selectFrom('item')
    .select(withinReach(p, 'item').as('within_reach'))
    .where('item_id', '=', p('item_id', 'bigint'))
    .where('menu_id', '=', p('menu_id', 'bigint')),
);

function itemFields(row: string) {
  const item = columns('item', row);
  return {
    item_id: item.item_id,
    category_id: item.category_id,
    menu_id: item.menu_id,
    name: item.name,
    description: item.description,
    price: item.price,
    photo_url: item.photo_url,
    allergens: item.allergens,
    dietary_tags: item.dietary_tags,
    is_available: item.is_available,
    sort_order: item.sort_order,
    created: created(item.created_at),
    external_id: item.external_id,
    unavailable_until: rfc3339(item.unavailable_until),
    updated_at: rfc3339(item.updated_at),
    version: item.version,
  };
}
