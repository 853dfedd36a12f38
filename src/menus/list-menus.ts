import { sql } from 'kysely';
import { type Reach, reachOf, withinReach } from '../records/reach.ts';
import { build, statement } from '../db/statement.ts';
import type { Call, Reply } from '../http/handler.ts';
import { type ListRow, type PageRequest, page, pageRequest } from '../http/pagination.ts';
import { ok } from '../http/reply.ts';
import { type Menu, menuJson } from './menu.ts';

export async function listMenus({
  database,
  query,
  caller,
  url,
}: Call<'listMenus'>): Promise<Reply<'listMenus'>> {
  const wanted = pageRequest(query);
  const rows = await selectMenus(database, {
    ...wanted,
    ...reachOf(caller),
    location_id: query.location_id ?? null,
    is_active: query.is_active ?? null,
  });
  const { body, headers } = page(rows, wanted, url);
  return ok(body, headers);
}

interface Filter {
  location_id: number | null;
  is_active: boolean | null;
}

const selectMenus = statement<PageRequest & Reach & Filter, ListRow<Menu>>((p) => {
  const location = p('location_id', 'bigint');
  const active = p('is_active', 'boolean');
  return build
    .selectFrom('menu')
    .select(['menu_id as id', menuJson().as('resource')])
    .where(withinReach(p, 'menu'))
    .where('menu_id', '>', p('after', 'bigint'))
    .where(sql<boolean>`(${location} is null or location_id = ${location})`)
    .where(sql<boolean>`(${active} is null or is_active = ${active})`)
    .orderBy('menu_id')
    .limit(p('limit', 'bigint'));
});
