import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../generated/api.ts';
import { categoryJson } from '../categories/category.ts';
import { type AnyJson, columns } from '../db/json.ts';
import { type Param, statement } from '../db/statement.ts';
import { stamped } from '../http/conditional.ts';
import { itemJson, items } from '../items/item.ts';
import { groupETag, groupJson } from '../modifier-groups/modifier-group.ts';
import { groupsOfMenu } from '../modifier-groups/shown-groups.ts';
import type { MenuKey } from '../records/menu-reach.ts';
import { sharedRead } from '../records/shared-read.ts';
import { menuETag, menuJson, menus } from './menu.ts';

export type MenuDetail = components['schemas']['MenuDetail'];

/** The current ETag alone, without building the body. */
export const selectMenuETag = sharedRead('menus.menuETag', menus, { etag: menuETag() });

/** A part of a whole menu, as it was at one moment. */
export type Segment = {
  /**
   * `items` are some items of a category, one JSON text after the other; any other kind is one record without its
   * contents.
   */
  kind: 'menu' | 'category' | 'items' | 'group';
  /** Changes with the text, and is unique to it. The tag of the menu is its ETag. */
  tag: string;
  /** Null where the tag is known. */
  text: string | null;
};

// With more, one changed item would cause more to be read; with fewer, more tags would be sent for unchanged ones.
const itemsInSegment = sql.lit(64);

/** The whole menu in display order, the menu itself first; nothing when there is none. */
export const selectMenuSegments = statement(
  'menus.menuSegments',
  (p: Param<Pick<MenuKey, 'menu_id'> & { known_tags: string[] }>) => {
    // Looked up in a hash table; an array would be searched for each segment.
    const known = sql`(select unnest(${p('known_tags', 'text[]')}))`;
    const category = columns('category');
    const categoryTag = sql`category.category_id || '-' || ${stamped(category.version, category.stamp)}`;
    const groupTag = sql`'group ' || modifier_group.modifier_group_id || ' ' || ${groupETag()}`;
    const unlessKnown = (tag: RawBuilder<unknown>, text: RawBuilder<AnyJson>) =>
      sql`case when ${tag} in ${known} then null else (${text})::text end`;
    return sql<Segment>`
      with shown as materialized (select * from menu where menu_id = ${p('menu_id', 'bigint')})
      select kind, tag, text from (
        select 'menu' as kind, ${menuETag()} as tag, ${menuJson()}::text as text,
          0 as part, 0 as sort_order, 0::bigint as id, 0::bigint as segment
        from shown as menu
        union all
        select 'category', ${categoryTag}, ${unlessKnown(categoryTag, categoryJson())},
          1, category.sort_order, category.category_id, 0
        from shown as menu join category on category.menu_id = menu.menu_id
        union all
        select 'items', segment.tag,
          case when segment.tag in ${known} then null else (
            select string_agg(${itemJson()}::text, ', ' order by item.sort_order, item.item_id)
            from item where item.item_id = any (segment.item_ids)) end,
          1, category.sort_order, category.category_id, segment.number
        from shown as menu join category on category.menu_id = menu.menu_id
        cross join lateral (
          select number, 'items ' || md5(string_agg(tag, ',' order by position)) as tag, array_agg(item_id) as item_ids
          from (
            select item_id, position, 1 + (position - 1) / ${itemsInSegment} as number,
              item_id || ${items.eTag('item')} as tag
            from (
              select item.*, row_number() over (order by item.sort_order, item.item_id) as position
              from item where item.category_id = category.category_id
            ) as item
          ) as placed
          group by number
        ) as segment
        union all
        select 'group', ${groupTag}, ${unlessKnown(groupTag, groupJson())},
          2, 0, modifier_group.modifier_group_id, 0
        from shown as menu cross join lateral ${groupsOfMenu()} as modifier_group
      ) as segments
      order by part, sort_order, id, segment`;
  },
);
