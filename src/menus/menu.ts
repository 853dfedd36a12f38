import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import { columns, type Json, jsonObject, rfc3339, spacedDateTime } from '../db/json.ts';
import { shownHours } from '../hours/hours.ts';
import type { Caller } from '../http/caller.ts';
import { stamped } from '../http/conditional.ts';
import { returnedModifiers } from '../modifier-groups/shown-groups.ts';
import { externalIdTaken } from '../records/constraints.ts';
import type { MenuKey } from '../records/menu-reach.ts';
import { reachOf } from '../records/reach.ts';
import type { RecordKind } from '../records/record-kind.ts';
import { type FieldTypes, hasChanged } from '../records/update.ts';
import type { EventType } from '../records/write.ts';

export type Menu = components['schemas']['Menu'];

/** The key that the path of a request names, with what its caller may reach. */
export function menuKey({ menu_id }: { menu_id: number }, caller: Caller): MenuKey {
  return { menu_id, ...reachOf(caller) };
}

/** The fields of a menu that callers may set: each is a column, here with its SQL type. */
export const menuFields = {
  name: 'text',
  description: 'text',
  is_active: 'boolean',
  sort_order: 'integer',
  external_id: 'text',
  hours: 'jsonb',
} as const satisfies FieldTypes<components['schemas']['MenuUpdate']>;

/** The fields of a row of `menu`, without its content. */
export function shownMenu(row = 'menu') {
  const menu = columns('menu', row);
  return {
    menu_id: menu.menu_id,
    location_id: menu.location_id,
    name: menu.name,
    description: menu.description,
    is_active: menu.is_active,
    sort_order: menu.sort_order,
    external_id: menu.external_id,
    hours: shownHours(menu.hours),
    created: spacedDateTime(menu.created_at),
    updated_at: rfc3339(menu.updated_at),
    version: menu.version,
  };
}

/** A row of `menu` as the API shows it, without its categories and items; built by the database. */
export function menuJson(row = 'menu'): RawBuilder<Json<Menu>> {
  return jsonObject<Menu>(shownMenu(row));
}

/**
 * The ETag of a whole menu, quotes included. It counts the changes inside, and the items and modifiers whose
 * `unavailable_until` has passed, since those read as available before anything is written.
 */
export function menuETag(row = 'menu'): RawBuilder<string> {
  const menu = columns('menu', row);
  return sql`'"' || ${stamped(menu.content_version, menu.stamp)} || '-' || (
    select count(*) from item where item.menu_id = ${menu.menu_id} and item.unavailable_until <= now()) || ${returnedModifiers(row)} || '"'`;
}

export const menus: RecordKind<MenuKey, Menu> = {
  table: 'menu',
  path: ['menu_id'],
  json: menuJson,
  compared: shownMenu,
  eTag: menuETag,
  constraints: { menu_external_id: externalIdTaken },
};

/** The events of an update that may change any field. */
export function menuEventTypes(): RawBuilder<EventType[]> {
  const describing = Object.keys(menuFields).filter((field) => field !== 'is_active');
  return sql`array_remove(array[
    case when old.is_active <> new.is_active then 'menu.toggled' end,
    case when ${hasChanged(describing)} then 'menu.updated' end], null)`;
}
