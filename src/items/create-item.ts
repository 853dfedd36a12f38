import { sql } from 'kysely';
import { type Reach, reachOf, withinReach } from '../records/reach.ts';
import { sortOrder } from '../records/sort-order.ts';
import { build, statement } from '../db/statement.ts';
import { recordEvents } from '../records/write.ts';
import { parameterError } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { data, type Json } from '../db/json.ts';
import { created } from '../http/reply.ts';
import { requireMenu, touchMenus } from '../menus/menu.ts';
import { requireSensibleAbsence } from './availability.ts';
import { changedItem, type Item, itemTag } from './item.ts';

export async function createItem(call: Call<'createItem'>): Promise<Reply<'createItem'>> {
  const { database, params, body, caller, requestId, eventCommitted } = call;
  requireSensibleAbsence(body);
  const [row] = await insert(database, {
    ...params,
    ...reachOf(caller),
    category_id: body.category_id,
    name: body.name.trim(),
    description: body.description ?? '',
    price: body.price,
    photo_url: body.photo_url ?? null,
    allergens: body.allergens ?? [],
    dietary_tags: body.dietary_tags ?? [],
    is_available: body.is_available ?? body.unavailable_until == null,
    unavailable_until: body.unavailable_until ?? null,
    sort_order: body.sort_order ?? null,
    external_id: body.external_id ?? null,
    request_id: requestId,
  });
  if (!row) {
    await requireMenu(database, params.menu_id, caller);
    throw parameterError([
      { field: '/category_id', code: 'not_found', message: 'is not a category of this menu' },
    ]);
  }
  eventCommitted();
  const location = `/api/v1/menus/${params.menu_id}/items/${row.item_id}`;
  return created(data(row.item), { ETag: row.etag, Location: location });
}

interface NewItem extends Reach {
  menu_id: number;
  category_id: number;
  name: string;
  description: string;
  price: number;
  photo_url: string | null;
  allergens: string[];
  dietary_tags: string[];
  is_available: boolean;
  unavailable_until: string | null;
  sort_order: number | null;
  external_id: string | null;
  request_id: string;
}

const insert = statement<NewItem, { item_id: number; etag: string; item: Json<Item> }>((p) =>
  build
    // Held from the start: a category that is being deleted is then none, not a foreign key that fails.
    .with('home', (db) =>
      db
        .selectFrom('category')
        .select(['account_id', 'location_id', 'menu_id', 'category_id'])
        .where('category_id', '=', p('category_id', 'bigint'))
        .where('menu_id', '=', p('menu_id', 'bigint'))
        .where(withinReach(p, 'category'))
        .forKeyShare(),
    )
    .with('changed', (db) =>
      db
        .insertInto('item')
        .columns([
          'account_id',
          'location_id',
          'menu_id',
          'category_id',
          'name',
          'description',
          'price',
          'photo_url',
          'allergens',
          'dietary_tags',
          'is_available',
          'unavailable_until',
          'sort_order',
          'external_id',
        ])
        .expression(
          db
            .selectFrom('home')
            .select([
              'account_id',
              'location_id',
              'menu_id',
              'category_id',
              p('name', 'text').as('name'),
              p('description', 'text').as('description'),
              p('price', 'numeric').as('price'),
              p('photo_url', 'text').as('photo_url'),
              p('allergens', 'text[]').as('allergens'),
              p('dietary_tags', 'text[]').as('dietary_tags'),
              p('is_available', 'boolean').as('is_available'),
              p('unavailable_until', 'timestamptz').as('unavailable_until'),
              sortOrder(p('sort_order', 'integer'), 'item', 'category_id').as('sort_order'),
              p('external_id', 'text').as('external_id'),
            ]),
        )
        .returning([...changedItem(sql`array['item.created']`), 'item.item_id', itemTag('new').as('etag')]),
    )
    .with('recorded', () => recordEvents('changed', p))
    .with('touched', () => touchMenus('changed'))
    .selectFrom('changed')
    .select(['item_id', 'etag', sql<Json<Item>>`data`.as('item')]),
);
