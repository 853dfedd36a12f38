import { sql } from 'kysely';
import { createClient } from '../../../src/accounts/client.ts';
import type { Database } from '../../../src/db/database.ts';
import { allScopes } from '../../../src/http/scopes.ts';
import { readExamples } from '../../../src/process/examples.ts';

/** What the benches work on. */
export interface BenchData {
  client_id: string;
  client_secret: string;
  /** Menus of 60 items in 6 categories. */
  smallMenus: number[];
  /** The first item of each small menu: no two contend for a row or for the row of a menu. */
  items: { menu_id: number; category_id: number; item_id: number }[];
  /** Menus of 500 items in 20 categories. */
  largeMenus: { menu_id: number; item_ids: number[] }[];
  /** Menus of 500 items that offer three groups of four modifiers each; no two menus share a group. */
  modifierMenus: { menu_id: number; modifiers: ModifierPath[] }[];
  /** 5,000 items in 50 categories. */
  hugeMenu: {
    menu_id: number;
    item_ids: number[];
    categories: { category_id: number; external_ids: string[] }[];
  };
}

export interface ModifierPath {
  location_id: number;
  modifier_group_id: number;
  modifier_id: number;
}

/** Fills an empty database; the items' texts, prices and labels are those of the example menus. */
export async function seed(database: Database): Promise<BenchData> {
  const { account_id, client_id, client_secret } = await createClient(database, {
    account: 'Bench',
    scopes: [...allScopes],
    locationIds: null,
  });
  const { location_id } = await database
    .insertInto('location')
    .values({ account_id, name: 'Bench', timezone: 'Europe/Athens', currency: 'EUR' })
    .returning('location_id')
    .executeTakeFirstOrThrow();
  const place = { account_id, location_id };
  const smallMenus = await insertMenus(database, place, { menus: 500, categories: 6, items: 10 });
  const largeMenus = await insertMenus(database, place, { menus: 20, categories: 20, items: 25 });
  const modifierMenus = await insertMenus(database, place, { menus: 20, categories: 20, items: 25 });
  await insertModifiers(database, place, modifierMenus, { groups: 3, modifiers: 4 });
  const [hugeMenu = 0] = await insertMenus(database, place, { menus: 1, categories: 50, items: 100 });
  await sql`vacuum analyze`.execute(database);
  return {
    client_id,
    client_secret,
    smallMenus,
    items: await firstItems(database, smallMenus),
    largeMenus: await itemIds(database, largeMenus),
    modifierMenus: await modifierPaths(database, modifierMenus),
    hugeMenu: {
      menu_id: hugeMenu,
      item_ids: (await itemIds(database, [hugeMenu])).flatMap(({ item_ids }) => item_ids),
      categories: await externalIds(database, hugeMenu),
    },
  };
}

async function firstItems(database: Database, menus: number[]): Promise<BenchData['items']> {
  return database
    .selectFrom('item')
    .distinctOn('menu_id')
    .select(['menu_id', 'category_id', 'item_id'])
    .where(sql<boolean>`menu_id = any (${menus}::bigint[])`)
    .orderBy('menu_id')
    .orderBy('item_id')
    .execute();
}

async function itemIds(database: Database, menus: number[]): Promise<BenchData['largeMenus']> {
  return database
    .selectFrom('item')
    .select(['menu_id', sql<number[]>`array_agg(item_id order by item_id)`.as('item_ids')])
    .where(sql<boolean>`menu_id = any (${menus}::bigint[])`)
    .groupBy('menu_id')
    .execute();
}

async function modifierPaths(database: Database, menus: number[]): Promise<BenchData['modifierMenus']> {
  const { rows } = await sql<ModifierPath & { menu_id: number }>`
    select menu_id, location_id, modifier_group_id, modifier_id
    from modifier join modifier_group using (modifier_group_id, account_id, location_id), unnest(menu_ids) as menu_id
    where menu_id = any (${menus}::bigint[])
    order by modifier_id`.execute(database);
  return [...Map.groupBy(rows, ({ menu_id }) => menu_id)].map(([menu_id, modifiers]) => ({
    menu_id,
    modifiers: modifiers.map(({ menu_id, ...path }) => path),
  }));
}

async function externalIds(
  database: Database,
  menu_id: number,
): Promise<BenchData['hugeMenu']['categories']> {
  return database
    .selectFrom('item')
    .select(['category_id', sql<string[]>`array_agg(external_id order by sort_order)`.as('external_ids')])
    .where('menu_id', '=', menu_id)
    .groupBy('category_id')
    .orderBy('category_id')
    .execute();
}

const templates = (await readExamples())
  .flatMap(({ menus }) => menus.flatMap(({ content }) => content.categories))
  .flatMap(({ items }) => items)
  .map((item, place) => ({ place, ...item }));

/** @param count categories per menu, items per category. */
async function insertMenus(
  database: Database,
  { account_id, location_id }: { account_id: number; location_id: number },
  count: { menus: number; categories: number; items: number },
): Promise<number[]> {
  const { rows } = await sql<{ menu_id: number }>`
    with template as (
      select * from jsonb_to_recordset(${JSON.stringify(templates)}::jsonb) as template (
        place int, name text, description text, price numeric, photo_url text, allergens text[], dietary_tags text[])
    ),
    menu as (
      insert into menu (account_id, location_id, name, description, sort_order)
      select ${account_id}, ${location_id}, 'Menu ' || n, 'Served daily from noon', n
      from generate_series(1, ${count.menus}::int) as n
      returning menu_id
    ),
    category as (
      insert into category (account_id, location_id, menu_id, name, description, sort_order)
      select ${account_id}, ${location_id}, menu_id, 'Category ' || n, 'From the grill', n
      from menu, generate_series(1, ${count.categories}::int) as n
      returning menu_id, category_id
    ),
    inserted as (
      insert into item (account_id, location_id, menu_id, category_id, name, description, price, photo_url,
        allergens, dietary_tags, sort_order, external_id)
      select ${account_id}, ${location_id}, menu_id, category_id, name, description, price, photo_url,
        allergens, dietary_tags, n, 'C' || category_id || '-' || n
      from category, generate_series(1, ${count.items}::int) as n, template
      where place = (category_id * ${count.items}::int + n) % ${templates.length}
    )
    select menu_id from menu order by menu_id`.execute(database);
  return rows.map(({ menu_id }) => menu_id);
}

/** @param count groups of each menu, which all its items offer, and modifiers of each group. */
async function insertModifiers(
  database: Database,
  { account_id, location_id }: { account_id: number; location_id: number },
  menus: number[],
  count: { groups: number; modifiers: number },
): Promise<void> {
  await sql`
    with made as (
      insert into modifier_group (account_id, location_id, name, min_selections, menu_ids)
      select ${account_id}, ${location_id}, 'Group ' || n, case when n = 1 then 1 else 0 end, array[menu_id]
      from unnest(${menus}::bigint[]) as menu_id, generate_series(1, ${count.groups}::int) as n
      returning modifier_group_id, menu_ids[1] as menu_id
    ),
    filled as (
      insert into modifier (account_id, location_id, modifier_group_id, name, price, sort_order)
      select ${account_id}, ${location_id}, modifier_group_id, 'Modifier ' || n, n, n
      from made, generate_series(1, ${count.modifiers}::int) as n
    ),
    offered as (
      update item set modifier_groups = (
        select json_agg(json_build_object('modifier_group_id', modifier_group_id, 'min_selections', null,
          'max_selections', null) order by modifier_group_id)
        from made where made.menu_id = item.menu_id)
      where menu_id = any (${menus}::bigint[])
    )
    insert into modifier_group_use (account_id, modifier_group_id, item_id, menu_id)
    select ${account_id}, modifier_group_id, item_id, menu_id from made join item using (menu_id)`.execute(
    database,
  );
}
