import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import { columns, type Json, jsonObject, rfc3339, spacedDateTime } from '../db/json.ts';
import type { Caller } from '../http/caller.ts';
import { type ApiError, parameterError } from '../http/errors.ts';
import { externalIdTaken } from '../records/constraints.ts';
import { type Reach, reachOf } from '../records/reach.ts';
import { type RecordKind, requireRecord } from '../records/record-kind.ts';
import type { FieldTypes } from '../records/update.ts';

export type Item = components['schemas']['Item'];

/** Path of one item and who asks: the values that every statement on one item takes. */
export interface ItemKey extends Reach {
  menu_id: number;
  item_id: number;
}

export function itemKey(params: { menu_id: number; item_id: number }, caller: Caller): ItemKey {
  return { menu_id: params.menu_id, item_id: params.item_id, ...reachOf(caller) };
}

/** What callers may say of an item: each field is a column, here with its SQL type. */
export const itemFields = {
  category_id: 'bigint',
  name: 'text',
  description: 'text',
  price: 'numeric',
  photo_url: 'text',
  allergens: 'text[]',
  dietary_tags: 'text[]',
  is_available: 'boolean',
  unavailable_until: 'timestamptz',
  sort_order: 'integer',
  external_id: 'text',
} as const satisfies FieldTypes<components['schemas']['ItemUpdate']>;

/** The fields that say whether the item can be had now; the others describe it. */
export const availabilityFields: readonly string[] = ['is_available', 'unavailable_until'];
export const describingFields = Object.keys(itemFields).filter(
  (field) => !availabilityFields.includes(field),
);

/** What a new item is where nothing is said; without a place it comes after the last of its category. */
export const itemDefaults = {
  description: '',
  photo_url: null,
  allergens: [],
  dietary_tags: [],
  unavailable_until: null,
  sort_order: null,
  external_id: null,
};

/** The fields of a row of `item`, with its availability as it is stored, which is what the last event said. */
function storedItem(row: string) {
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
    created: spacedDateTime(item.created_at),
    external_id: item.external_id,
    unavailable_until: rfc3339(item.unavailable_until),
    updated_at: rfc3339(item.updated_at),
    version: item.version,
  };
}

/**
 * The fields as readers see them. An item whose `unavailable_until` has passed reads as available, also before a
 * worker has written so.
 */
export function shownItem(row = 'item') {
  return {
    ...storedItem(row),
    is_available: isAvailable(row),
    unavailable_until: rfc3339(pendingReturn(row)),
  };
}

export function itemJson(row = 'item'): RawBuilder<Json<Item>> {
  return jsonObject<Item>(shownItem(row));
}

export function storedItemJson(row = 'item'): RawBuilder<Json<Item>> {
  return jsonObject<Item>(storedItem(row));
}

/** Whether the item is available at this moment. */
export function isAvailable(row = 'item'): RawBuilder<boolean> {
  return sql`(${columns('item', row).is_available} or ${hasReturned(row)})`;
}

/** Whether the time of the item's absence is over. */
export function hasReturned(row = 'item'): RawBuilder<boolean> {
  return sql`coalesce(${columns('item', row).unavailable_until} <= now(), false)`;
}

/** When the item returns, if that is yet to come. */
export function pendingReturn(row = 'item'): RawBuilder<Date | null> {
  return sql`case when not ${hasReturned(row)} then ${columns('item', row).unavailable_until} end`;
}

/** The ETag of an item, quotes included. */
export function itemETag(row = 'item'): RawBuilder<string> {
  return sql`'"' || ${columns('item', row).version} || case when ${hasReturned(row)} then '-restored' else '' end || '"'`;
}

export const items: RecordKind<ItemKey, Item> = {
  table: 'item',
  path: ['item_id', 'menu_id'],
  json: itemJson,
  eTag: itemETag,
  constraints: {
    item_external_id: externalIdTaken,
    item_category: notInMenu,
  },
};

export function notInMenu(): ApiError {
  return parameterError([
    { field: '/category_id', code: 'not_found', message: 'is not a category of this menu' },
  ]);
}

/** @throws 404 or 403 when the caller finds no such item in this menu. */
export const requireItem = requireRecord<ItemKey>('items.requireItem', items);
