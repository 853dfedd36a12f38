import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import { type CategoryDetail, categoryDetailJson } from '../categories/category.ts';
import { type Json, jsonObject } from '../db/json.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { groupsOfMenuJson } from '../modifier-groups/shown-groups.ts';
import type { MenuKey } from '../records/menu-reach.ts';
import { withinReach } from '../records/reach.ts';
import { isAtPath } from '../records/record-kind.ts';
import { sharedRead } from '../records/shared-read.ts';
import { menuETag, menus, shownMenu } from './menu.ts';

export type MenuDetail = components['schemas']['MenuDetail'];

/** The current ETag alone, without the building of the body. */
export const selectMenuETag = sharedRead('menus.menuETag', menus, { etag: menuETag() });

/** The whole menu in one query, in display order, in the envelope of its response. */
export const selectMenuDetail = statement('menus.menuDetail', (p: Param<MenuKey>) =>
  build
    .selectFrom('menu')
    .select([
      withinReach(p, 'menu').as('within_reach'),
      jsonObject<{ data: MenuDetail }>({
        data: jsonObject<MenuDetail>({
          ...shownMenu(),
          categories: categoriesJson(),
          modifier_groups: groupsOfMenuJson(),
        }),
      }).as('body'),
      menuETag().as('etag'),
    ])
    .where(isAtPath(menus, p)),
);

function categoriesJson(): RawBuilder<Json<CategoryDetail[]>> {
  return sql`(
    select coalesce(json_agg(${categoryDetailJson()} order by category.sort_order, category.category_id), '[]')
    from category where category.menu_id = menu.menu_id)`;
}
