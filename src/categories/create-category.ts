import { sql } from 'kysely';
import { type Reach, reachOf, withinReach } from '../records/reach.ts';
import { sortOrder } from '../records/sort-order.ts';
import { build, statement } from '../db/statement.ts';
import { recordEvents } from '../records/write.ts';
import { notFound } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { data, type Json } from '../db/json.ts';
import { created } from '../http/reply.ts';
import { requireMenu, touchMenus } from '../menus/menu.ts';
import { type Category, categoryTag, changedCategory } from './category.ts';

/** A menu that is deleted meanwhile is found missing by the foreign key, which is answered 404 as well. */
export async function createCategory(call: Call<'createCategory'>): Promise<Reply<'createCategory'>> {
  const { database, params, body, caller, requestId, eventCommitted } = call;
  const [row] = await insert(database, {
    ...params,
    ...reachOf(caller),
    name: body.name.trim(),
    description: body.description ?? '',
    sort_order: body.sort_order ?? null,
    external_id: body.external_id ?? null,
    request_id: requestId,
  });
  if (!row) {
    await requireMenu(database, params.menu_id, caller);
    throw notFound('There is no such menu.');
  }
  eventCommitted();
  const location = `/api/v1/menus/${params.menu_id}/categories/${row.category_id}`;
  return created(data(row.category), { ETag: row.etag, Location: location });
}

interface NewCategory extends Reach {
  menu_id: number;
  name: string;
  description: string;
  sort_order: number | null;
  external_id: string | null;
  request_id: string;
}

const insert = statement<NewCategory, { category_id: number; etag: string; category: Json<Category> }>((p) =>
  build
    .with('home', (db) =>
      db
        .selectFrom('menu')
        .select(['account_id', 'location_id', 'menu_id'])
        .where('menu_id', '=', p('menu_id', 'bigint'))
        .where(withinReach(p, 'menu')),
    )
    .with('changed', (db) =>
      db
        .insertInto('category')
        .columns(['account_id', 'location_id', 'menu_id', 'name', 'description', 'sort_order', 'external_id'])
        .expression(
          db
            .selectFrom('home')
            .select([
              'account_id',
              'location_id',
              'menu_id',
              p('name', 'text').as('name'),
              p('description', 'text').as('description'),
              sortOrder(p('sort_order', 'integer'), 'category', 'menu_id').as('sort_order'),
              p('external_id', 'text').as('external_id'),
            ]),
        )
        .returning([
          ...changedCategory(sql`array['category.created']`),
          'category.category_id',
          categoryTag('new').as('etag'),
        ]),
    )
    .with('recorded', () => recordEvents('changed', p))
    .with('touched', () => touchMenus('changed'))
    .selectFrom('changed')
    .select(['category_id', 'etag', sql<Json<Category>>`data`.as('category')]),
);
