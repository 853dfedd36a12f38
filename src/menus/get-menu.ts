import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import { reachOf, requireReach, withinReach } from '../accounts/reach.ts';
import { type CategoryDetail, categoryDetailJson } from '../categories/category.ts';
import { build, statement } from '../db/statement.ts';
import { isCurrent } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { data, type Json, jsonObject } from '../http/json.ts';
import { notModified, ok } from '../http/reply.ts';
import { type MenuKey, menuFields, menuTag } from './menu.ts';

type MenuDetail = components['schemas']['MenuDetail'];

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
    const [current] = await selectTag(database, values);
    if (current && isCurrent(ifNoneMatch, current.etag)) return notModified(current.etag);
  }
  const [found] = await selectMenu(database, values);
  const row = requireReach(found, 'menu');
  return ok(data(row.menu), { ETag: row.etag });
}

const selectTag = statement<MenuKey, { etag: string }>((p) =>
  build
    .selectFrom('menu')
    .select(menuTag().as('etag'))
    .where('menu_id', '=', p('menu_id', 'bigint'))
    .where(withinReach(p, 'menu')),
);

const selectMenu = statement<MenuKey, { within_reach: boolean; etag: string; menu: Json<MenuDetail> }>((p) =>
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
  return sql`(
    select coalesce(json_agg(${categoryDetailJson()} order by category.sort_order, category.category_id), '[]')
    from category where category.menu_id = menu.menu_id)`;
}
