import { build, filteredStatement } from '../db/statement.ts';
import type { Call, Reply } from '../http/handler.ts';
import { type ListRow, type PageRequest, page, pageRequest } from '../http/pagination.ts';
import { ok } from '../http/reply.ts';
import { type Reach, reachOf, withinReach } from '../records/reach.ts';
import { type Menu, menuJson } from './menu.ts';

export async function listMenus({
  database,
  query,
  caller,
  url,
}: Call<'listMenus'>): Promise<Reply<'listMenus'>> {
  const wanted = pageRequest(query);
  const { location_id, is_active } = query;
  const rows = await selectMenus(database, { ...wanted, ...reachOf(caller), location_id, is_active });
  const { body, headers } = page(rows, wanted, url);
  return ok(body, headers);
}

type Values = PageRequest & Reach & { location_id?: number | undefined; is_active?: boolean | undefined };

const selectMenus = filteredStatement<Values, ListRow<Menu>, 'location_id' | 'is_active'>(
  'menus.listMenus',
  ['location_id', 'is_active'],
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
      .orderBy('menu_id')
      .limit(p('limit', 'bigint')),
);
