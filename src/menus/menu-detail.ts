import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import { withinReach } from '../records/reach.ts';
import { type CategoryDetail, categoryDetailJson } from '../categories/category.ts';
import { build, statement } from '../db/statement.ts';
import { type Json, jsonObject } from '../db/json.ts';
import { type MenuKey, menuFields, menuTag } from './menu.ts';

export type MenuDetail = components['schemas']['MenuDetail'];

/** The current ETag alone, without the building of the body. */
export const selectMenuTag = statement<MenuKey, { within_reach: boolean; etag: string }>((p) =>
  build
    .selectFrom('menu')
    .select([withinReach(p, 'menu').as('within_reach'), menuTag().as('etag')])
    .where('menu_id', '=', p('menu_id', 'bigint')),
);

/** The whole menu in one query, in display order. */
export const selectMenuDetail = statement<
  MenuKey,
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
  return sql`(
    select coalesce(json_agg(${categoryDetailJson()} order by category.sort_order, category.category_id), '[]')
    from category where category.menu_id = menu.menu_id)`;
}
