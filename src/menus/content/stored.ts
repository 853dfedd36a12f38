import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../../generated/api.ts';
import { withinReach } from '../../records/reach.ts';
import type { Database } from '../../db/database.ts';
import { build, statement } from '../../db/statement.ts';
import { columns, type Json, jsonObject, rfc3339 } from '../../db/json.ts';
import { available, lapsed } from '../../items/item.ts';
import { type MenuKey, menuTag } from '../menu.ts';

type Item = components['schemas']['Item'];
type Category = components['schemas']['Category'];
type Menu = components['schemas']['Menu'];

export type StoredItem = Omit<Item, 'menu_id' | 'created' | 'updated_at' | 'version'>;
export type StoredCategory = Omit<Category, 'menu_id' | 'created' | 'updated_at' | 'version'>;

/** A menu as its readers see it at one moment, in display order. */
export interface StoredMenu {
  location_id: number;
  /** The menu's ETag, quotes included. */
  etag: string;
  menu: Pick<Menu, 'name' | 'description' | 'is_active'>;
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

interface Row {
  within_reach: boolean;
  location_id: number;
  etag: string;
  menu: Json<StoredMenu['menu']>;
  categories: Json<StoredCategory[]>;
  items: Json<StoredItem[]>;
}

const select = statement<MenuKey, Row>((p) => {
  const { name, description, is_active } = columns('menu');
  return build
    .selectFrom('menu')
    .select([
      withinReach(p, 'menu').as('within_reach'),
      'location_id',
      menuTag().as('etag'),
      jsonObject<StoredMenu['menu']>({ name, description, is_active }).as('menu'),
      categoriesJson().as('categories'),
      itemsJson().as('items'),
    ])
    .where('menu_id', '=', p('menu_id', 'bigint'));
});

function categoriesJson(): RawBuilder<Json<StoredCategory[]>> {
  const { category_id, external_id, name, description, sort_order } = columns('category');
  const fields = jsonObject<StoredCategory>({ category_id, external_id, name, description, sort_order });
  return sql`(select coalesce(json_agg(${fields} order by category.sort_order, category.category_id), '[]')
    from category where category.menu_id = menu.menu_id)`;
}

function itemsJson(): RawBuilder<Json<StoredItem[]>> {
  const item = columns('item');
  const fields = jsonObject<StoredItem>({
    item_id: item.item_id,
    category_id: item.category_id,
    external_id: item.external_id,
    name: item.name,
    description: item.description,
    price: item.price,
    photo_url: item.photo_url,
    allergens: item.allergens,
    dietary_tags: item.dietary_tags,
    is_available: available(),
    unavailable_until: rfc3339(
      sql<Date | null>`case when not ${lapsed()} then ${item.unavailable_until} end`,
    ),
    sort_order: item.sort_order,
  });
  return sql`(select coalesce(json_agg(${fields} order by item.sort_order, item.item_id), '[]')
    from item where item.menu_id = menu.menu_id)`;
}
