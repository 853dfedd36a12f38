import { sql } from 'kysely';
import { type Reach, reachOf, withinReach } from '../records/reach.ts';
import { sortOrder } from '../records/sort-order.ts';
import { build, statement } from '../db/statement.ts';
import { recordEvents } from '../records/write.ts';
import { parameterError } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { data, type Json } from '../db/json.ts';
import { created } from '../http/reply.ts';
import { changedMenu, type Menu, menuTag } from './menu.ts';

export async function createMenu(call: Call<'createMenu'>): Promise<Reply<'createMenu'>> {
  const { database, body, caller, requestId, eventCommitted } = call;
  const [row] = await insert(database, {
    ...reachOf(caller),
    location_id: body.location_id,
    name: body.name.trim(),
    description: body.description ?? '',
    is_active: body.is_active ?? true,
    sort_order: body.sort_order ?? null,
    external_id: body.external_id ?? null,
    request_id: requestId,
  });
  // Whether the location exists elsewhere is not told.
  if (!row) {
    throw parameterError([{ field: '/location_id', code: 'not_found', message: 'is not accessible' }]);
  }
  eventCommitted();
  return created(data(row.menu), { ETag: row.etag, Location: `/api/v1/menus/${row.menu_id}` });
}

interface NewMenu extends Reach {
  location_id: number;
  name: string;
  description: string;
  is_active: boolean;
  sort_order: number | null;
  external_id: string | null;
  request_id: string;
}

const insert = statement<NewMenu, { menu_id: number; etag: string; menu: Json<Menu> }>((p) =>
  build
    .with('home', (db) =>
      db
        .selectFrom('location')
        .select(['account_id', 'location_id'])
        .where('location_id', '=', p('location_id', 'bigint'))
        .where(withinReach(p, 'location'))
        .forKeyShare(),
    )
    .with('changed', (db) =>
      db
        .insertInto('menu')
        .columns([
          'account_id',
          'location_id',
          'name',
          'description',
          'is_active',
          'sort_order',
          'external_id',
        ])
        .expression(
          db
            .selectFrom('home')
            .select([
              'account_id',
              'location_id',
              p('name', 'text').as('name'),
              p('description', 'text').as('description'),
              p('is_active', 'boolean').as('is_active'),
              sortOrder(p('sort_order', 'integer'), 'menu', 'location_id').as('sort_order'),
              p('external_id', 'text').as('external_id'),
            ]),
        )
        .returning([...changedMenu(sql`array['menu.created']`), menuTag('new').as('etag')]),
    )
    .with('recorded', () => recordEvents('changed', p))
    .selectFrom('changed')
    .select([sql<number>`menu_id`.as('menu_id'), 'etag', sql<Json<Menu>>`data`.as('menu')]),
);
