import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import { shownCategory } from '../categories/category.ts';
import type { Database } from '../db/database.ts';
import { type Json, jsonObject } from '../db/json.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { shownItem } from '../items/item.ts';
import { groupsOfLocationJson, groupsOfMenuJson } from '../modifier-groups/shown-groups.ts';
import { otherNumbersJson, type UseNumbers } from '../modifier-groups/uses.ts';
import type { MenuKey } from '../records/menu-reach.ts';
import { withinReach } from '../records/reach.ts';
import { isAtPath } from '../records/record-kind.ts';
import { menuETag, menus, shownMenu } from './menu.ts';

type Schemas = components['schemas'];
/** Fields that a document does not contain. */
type Upkeep = 'menu_id' | 'created' | 'updated_at' | 'version';

export type StoredItem = Omit<Schemas['Item'], Upkeep | 'unavailable_since' | 'unavailable_by'>;
export type StoredCategory = Omit<Schemas['Category'], Upkeep>;
export type StoredGroup = Schemas['ModifierGroup'];
export type StoredModifier = Schemas['Modifier'];

/** A menu as its readers see it at one moment, in display order. */
export interface StoredMenu {
  location_id: number;
  /** Of the location. */
  currency: string;
  /** The menu's ETag, quotes included. */
  etag: string;
  menu: Pick<Schemas['Menu'], 'name' | 'description' | 'is_active' | 'hours'>;
  categories: StoredCategory[];
  items: StoredItem[];
  /** The groups that were asked for. */
  groups: StoredGroup[];
  /** The numbers of uses by items of other menus, if the groups of the location were asked for. */
  otherNumbers: UseNumbers[];
}

/** Which modifier groups are to be read. */
export type WantedGroups = 'of the menu' | 'of the location' | 'none';

/** The same in the form that the database returns. */
export interface StoredText {
  location_id: number;
  currency: string;
  etag: string;
  menu: Json<StoredMenu['menu']>;
  categories: Json<StoredCategory[]>;
  items: Json<StoredItem[]>;
  groups: Json<StoredGroup[]>;
  other_numbers: Json<UseNumbers[]>;
}

/** Approximately how many characters it has. */
export function sizeOfStored({ items, groups }: StoredText): number {
  return items.length + groups.length;
}

/** Reads the whole menu in one statement; undefined when there is none. */
export async function readStoredText(
  database: Database,
  key: MenuKey,
  groups: WantedGroups,
): Promise<(StoredText & { within_reach: boolean }) | undefined> {
  const [row] = await select(database, { ...key, groups });
  return row;
}

/** Parses the JSON text of each part of the menu. */
export function parseStored({
  location_id,
  currency,
  etag,
  menu,
  categories,
  items,
  groups,
  other_numbers,
}: StoredText): StoredMenu {
  return {
    location_id,
    currency,
    etag,
    menu: JSON.parse(menu),
    categories: JSON.parse(categories),
    items: JSON.parse(items),
    groups: JSON.parse(groups),
    otherNumbers: JSON.parse(other_numbers),
  };
}

const select = statement('menus.readStored', (p: Param<MenuKey & { groups: WantedGroups }>) => {
  const wanted = p('groups', 'text');
  const { name, description, is_active, hours } = shownMenu();
  return build
    .selectFrom('menu')
    .select([
      withinReach(p, 'menu').as('within_reach'),
      'location_id',
      currencyOf('menu').as('currency'),
      menuETag().as('etag'),
      jsonObject<StoredMenu['menu']>({ name, description, is_active, hours }).as('menu'),
      categoriesJson().as('categories'),
      itemsJson().as('items'),
      sql<Json<StoredGroup[]>>`case ${wanted} when 'of the menu' then ${groupsOfMenuJson()}
        when 'of the location' then ${groupsOfLocationJson()} else '[]' end`.as('groups'),
      sql<
        Json<UseNumbers[]>
      >`case ${wanted} when 'of the location' then ${otherNumbersJson()} else '[]' end`.as('other_numbers'),
    ])
    .where(isAtPath(menus, p));
});

function currencyOf(row: string): RawBuilder<string> {
  return sql`(
    select currency from location
    where (location_id, account_id) = (${sql.ref(`${row}.location_id`)}, ${sql.ref(`${row}.account_id`)}))`;
}

function categoriesJson(): RawBuilder<Json<StoredCategory[]>> {
  const { menu_id, created, updated_at, version, ...fields } = shownCategory();
  return sql`(
    select coalesce(json_agg(${jsonObject<StoredCategory>(fields)} order by category.sort_order, category.category_id), '[]')
    from category where category.menu_id = menu.menu_id)`;
}

function itemsJson(): RawBuilder<Json<StoredItem[]>> {
  const { menu_id, created, updated_at, version, unavailable_since, unavailable_by, ...fields } = shownItem();
  return sql`(
    select coalesce(json_agg(${jsonObject<StoredItem>(fields)} order by item.sort_order, item.item_id), '[]')
    from item where item.menu_id = menu.menu_id)`;
}
