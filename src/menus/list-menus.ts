import { build, filteredStatement } from '../db/statement.ts';
import type { Call, Reply } from '../http/handler.ts';
import { type ListRow, type PageRequest, pageRequest, pageResponse } from '../http/pagination.ts';
import { type Reach, reachOf, withinReach } from '../records/reach.ts';
import { isUpdatedSince } from '../records/updated-since.ts';
import { type Menu, menuJson } from './menu.ts';

/** A page of the menus that match the filters, at all locations that the caller may reach, by id. */
export async function listMenus(call: Call<'listMenus'>): Promise<Reply<'listMenus'>> {
  const { database, query, caller } = call;
  const wanted = pageRequest(query);
  const { location_id, is_active, updated_since } = query;
  const filters = { location_id, is_active, updated_since };
  const rows = await selectMenus(database, { ...wanted, ...reachOf(caller), ...filters });
  return pageResponse(rows, wanted, call);
}

type Filters = Omit<Call<'listMenus'>['query'], 'limit' | 'cursor'>;
type Values = PageRequest & Reach & { [F in keyof Filters]?: Filters[F] | undefined };

const selectMenus = filteredStatement<Values, ListRow<Menu>, keyof Filters>(
  'menus.listMenus',
  ['location_id', 'is_active', 'updated_since'],
  (p, present) =>
    build
      .selectFrom('menu')
      .select(['menu_id as id', menuJson().as('resource')])
      .where(withinReach(p, 'menu'))
      .where('menu_id', '>', p('after', 'bigint'))
      .$if(present.includes('location_id'), (menus) =>
        menus.where('location_id', '=', p('location_id', 'bigint')),
      )
      .$if(present.includes('is_active'), (menus) => menus.where('is_active', '=', p('is_active', 'boolean')))
      .$if(present.includes('updated_since'), (menus) => menus.where(isUpdatedSince(p)))
      .orderBy('menu_id')
      .limit(p('limit', 'bigint')),
);
