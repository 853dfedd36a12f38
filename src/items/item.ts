import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import { columns, type Json, jsonObject, rfc3339, spacedDateTime } from '../db/json.ts';
import { shownHours } from '../hours/hours.ts';
import type { Caller } from '../http/caller.ts';
import { type ApiError, parameterError } from '../http/errors.ts';
import { describingFields, notedAbsence, seenAvailability, switchedETag } from '../records/absence.ts';
import type { SwitchedKind } from '../records/availability-rows.ts';
import { externalIdTaken } from '../records/constraints.ts';
import { type Reach, reachOf } from '../records/reach.ts';
import { type RecordKind, requireRecord } from '../records/record-kind.ts';
import { previousOfUpdate, updateEventTypes } from '../records/switches.ts';
import type { FieldTypes } from '../records/update.ts';

export type Item = components['schemas']['Item'];

/** The path of one item and who is asking: the values that every statement on one item takes. */
export interface ItemKey extends Reach {
  menu_id: number;
  item_id: number;
}

/** The key that the path of a request names, with what its caller may reach. */
export function itemKey(params: { menu_id: number; item_id: number }, caller: Caller): ItemKey {
  return { menu_id: params.menu_id, item_id: params.item_id, ...reachOf(caller) };
}

/** The fields of an item that callers may set: each is a column, here with its SQL type. */
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
  hours: 'jsonb',
} as const satisfies FieldTypes<Omit<components['schemas']['ItemUpdate'], 'restore'>>;

/** The maximum number of items in a menu, also in an import or a reordering. */
export const itemLimit = 10_000;

/** The values of a new item for fields that the body lacks; without a `sort_order` it comes last in its category. */
export const itemDefaults = {
  description: '',
  photo_url: null,
  allergens: [],
  dietary_tags: [],
  unavailable_until: null,
  sort_order: null,
  external_id: null,
  hours: null,
};

/** The fields of a row of `item`, with its availability as stored, which is as the last event reported it. */
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
    modifier_groups: sql<Json<Item['modifier_groups']>>`${item.modifier_groups}`,
    is_available: item.is_available,
    sort_order: item.sort_order,
    created: spacedDateTime(item.created_at),
    external_id: item.external_id,
    hours: shownHours(item.hours),
    unavailable_until: rfc3339(item.unavailable_until),
    updated_at: rfc3339(item.updated_at),
    version: item.version,
  };
}

/**
 * The fields as readers see them. An item whose `unavailable_until` has passed reads as available, even before a worker
 * has recorded that.
 */
export function shownItem(row = 'item') {
  const { updated_at, version, ...fields } = storedItem(row);
  return { ...fields, ...seenAvailability(row), ...notedAbsence(row), updated_at, version };
}

/** A row of `item` as the API shows it, built by the database. */
export function itemJson(row = 'item'): RawBuilder<Json<Item>> {
  return jsonObject<Item>(shownItem(row));
}

/** The events of an update that may change any field, and the old values in them. */
export const itemEventTypes = updateEventTypes('item', describingFields(itemFields));
export const previousOfItem = previousOfUpdate(storedItem);

/** Items, for calls that switch many at once. */
export const switchedItems: SwitchedKind<'item', Item> = {
  table: 'item',
  rows: 'items',
  json: itemJson,
};

export const items: RecordKind<ItemKey, Item> = {
  table: 'item',
  path: ['item_id', 'menu_id'],
  json: itemJson,
  // Without the fields that follow from the switch.
  compared: storedItem,
  eTag: (row = 'item') => switchedETag(row),
  constraints: {
    item_external_id: externalIdTaken,
    item_category: notInMenu,
  },
};

/** The 422 for a `category_id` that is not a category of the item's menu. */
export function notInMenu(): ApiError {
  return parameterError([
    { field: '/category_id', code: 'not_found', message: 'is not a category of this menu' },
  ]);
}

/** @throws 404 or 403 when the caller finds no such item in this menu. */
export const requireItem = requireRecord<ItemKey>('items.requireItem', items);
