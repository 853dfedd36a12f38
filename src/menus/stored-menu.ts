import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import { shownCategory } from '../categories/category.ts';
import type { Database } from '../db/database.ts';
import { type Json, jsonObject } from '../db/json.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { shownItem } from '../items/item.ts';
import type { MenuKey } from '../records/menu-reach.ts';
import { withinReach } from '../records/reach.ts';
import { isAtPath } from '../records/record-kind.ts';
import { menuETag, menus, shownMenu } from './menu.ts';

type Schemas = components['schemas'];
/** What a document says nothing of. */
type Upkeep = 'menu_id' | 'created' | 'updated_at' | 'version';

export type StoredItem = Omit<Schemas['Item'], Upkeep>;
export type StoredCategory = Omit<Schemas['Category'], Upkeep>;

/** A menu as its readers see it at one moment, in display order. */
export interface StoredMenu {
  location_id: number;
  /** The menu's ETag, quotes included. */
  etag: string;
  menu: Pick<Schemas['Menu'], 'name' | 'description' | 'is_active'>;
  categories: StoredCategory[];
  items: StoredItem[];
}

/** Reads the whole menu in one statement; undefined when there is none. */
export async function readStored(
  database: Database,
  key: MenuKey,
): Promise<(StoredMenu & { within_reach: boolean }) | undefined> {
  const [row] = await select(database, key);
  return (
    row && {
      ...row,
      menu: JSON.parse(row.menu),
      categories: JSON.parse(row.categories),
      items: JSON.parse(row.items),
    }
  );
}

const select = statement('menus.readStored', (p: Param<MenuKey>) => {
  const { name, description, is_active } = shownMenu();
  return build
    .selectFrom('menu')
    .select([
      withinReach(p, 'menu').as('within_reach'),
      'location_id',
      menuETag().as('etag'),
      jsonObject<StoredMenu['menu']>({ name, description, is_active }).as('menu'),
      categoriesJson().as('categories'),
      itemsJson().as('items'),
    ])
    .where(isAtPath(menus, p));
});

function categoriesJson(): RawBuilder<Json<StoredCategory[]>> {
  const { menu_id, created, updated_at, version, ...fields } = shownCategory();
  return sql`(
    select coalesce(json_agg(${jsonObject<StoredCategory>(fields)} order by category.sort_order, category.category_id), '[]')
    from category where category.menu_id = menu.menu_id)`;
}

function itemsJson(): RawBuilder<Json<StoredItem[]>> {
  const { menu_id, created, updated_at, version, ...fields } = shownItem();
  return sql`(
    select coalesce(json_agg(${jsonObject<StoredItem>(fields)} order by item.sort_order, item.item_id), '[]')
    from item where item.menu_id = menu.menu_id)`;
}
