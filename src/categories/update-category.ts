import { sql } from 'kysely';
import { withinReach } from '../records/reach.ts';
import { differs, type FieldTypes, nextValues, type Patch, patchOf, settlePatch } from '../records/update.ts';
import { build, statement } from '../db/statement.ts';
import { recordEvents } from '../records/write.ts';
import { acceptedTags, tagMatches } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { data, type Json } from '../db/json.ts';
import { ok } from '../http/reply.ts';
import { touchMenus } from '../menus/menu.ts';
import {
  type Category,
  type CategoryKey,
  categoryJson,
  categoryKey,
  categoryTag,
  changedCategory,
  requireCategory,
} from './category.ts';

type Body = Call<'updateCategory'>['body'];

/** Changes the fields present in the body, in one statement with its event. */
export async function updateCategory(call: Call<'updateCategory'>): Promise<Reply<'updateCategory'>> {
  const { database, params, body, caller, headers, requestId, eventCommitted } = call;
  const key = categoryKey(params, caller);
  const values = {
    ...key,
    ...patchOf(fieldTypes, body),
    if_match: acceptedTags(headers['if-match']),
    request_id: requestId,
  };
  const row = await settlePatch(values.if_match, {
    update: () => update(database, values),
    selectCurrent: () => selectCurrent(database, values),
    requireRecord: () => requireCategory(database, key),
    eventCommitted,
  });
  return ok(data(row.category), { ETag: row.etag });
}

const fieldTypes: FieldTypes<Body> = {
  name: 'text',
  description: 'text',
  sort_order: 'integer',
  external_id: 'text',
};

type Values = CategoryKey & Patch<Body> & { if_match: string[] | null; request_id: string };
type Row = { etag: string; category: Json<Category> };

const update = statement<Values, Row>((p) => {
  const next = nextValues<Body>('category', fieldTypes, p);
  return build
    .with('changed', (db) =>
      db
        .updateTable('category')
        .set({ ...next, version: sql`category.version + 1`, updated_at: sql`clock_timestamp()` })
        .where('category_id', '=', p('category_id', 'bigint'))
        .where('menu_id', '=', p('menu_id', 'bigint'))
        .where(withinReach(p, 'category'))
        .where(tagMatches(p, categoryTag()))
        .where(differs('category', next))
        .returning([
          ...changedCategory(
            sql`array['category.updated']`,
            sql`changed_fields(${categoryJson('old')}, ${categoryJson('new')})`,
          ),
          categoryTag('new').as('etag'),
        ]),
    )
    .with('recorded', () => recordEvents('changed', p))
    .with('touched', () => touchMenus('changed'))
    .selectFrom('changed')
    .select(['etag', sql<Json<Category>>`data`.as('category')]);
});

const selectCurrent = statement<Values, Row & { differs: boolean }>((p) =>
  build
    .selectFrom('category')
    .select([
      categoryTag().as('etag'),
      categoryJson().as('category'),
      differs('category', nextValues<Body>('category', fieldTypes, p)).as('differs'),
    ])
    .where('category_id', '=', p('category_id', 'bigint'))
    .where('menu_id', '=', p('menu_id', 'bigint'))
    .where(withinReach(p, 'category')),
);
