import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import { type Reach, reachOf, requireReach, withinReach } from '../accounts/reach.ts';
import { type Category, categoryFields } from '../categories/category.ts';
import { build, statement } from '../db/statement.ts';
import { isCurrent } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { data, type Json, jsonObject } from '../http/json.ts';
import { notModified, ok } from '../http/reply.ts';
import { type Item, itemJson } from '../items/item.ts';
import { findMenuTag, menuFields, menuTag } from './menu.ts';

type MenuDetail = components['schemas']['MenuDetail'];
type CategoryDetail = components['schemas']['CategoryDetail'];

/** The whole menu in one query; a client whose copy is current costs a look-up by primary key only. */
export async function getMenu({
  database,
  params,
  caller,
  headers,
}: Call<'getMenu'>): Promise<Reply<'getMenu'>> {
  const values = { ...params, ...reachOf(caller) };
  const ifNoneMatch = headers['if-none-match'];
  if (ifNoneMatch !== undefined) {
    const etag = await findMenuTag(database, values);
    if (etag && isCurrent(ifNoneMatch, etag)) return notModified(etag);
  }
  const [found] = await selectMenu(database, values);
  const row = requireReach(found, 'menu');
  return ok(data(row.menu), { ETag: row.etag });
}

const selectMenu = statement<
  { menu_id: number } & Reach,
  { within_reach: boolean; etag: string; menu: Json<MenuDetail> }
>((p) =>
  build
    .selectFrom('menu')
    .select([
      withinReach(p, 'menu').as('within_reach'),
      menuTag().as('etag'),
      jsonObject<MenuDetail>({ ...menuFields(), categories: categoriesJson() }).as('menu'),
    ])
    .where('menu_id', '=', p('menu_id', 'bigint')),
);

function categoriesJson(): RawBuilder<Json<CategoryDetail[]>> {
  const detail = jsonObject<Category & { items: Item[] }>({ ...categoryFields(), items: itemsJson() });
  return sql`(select coalesce(json_agg(${detail} order by category.sort_order, category.category_id), '[]')
    from category where category.menu_id = menu.menu_id)`;
}

function itemsJson(): RawBuilder<Json<Item[]>> {
  return sql`(select coalesce(json_agg(${itemJson()} order by item.sort_order, item.item_id), '[]')
    from item where item.category_id = category.category_id)`;
}
