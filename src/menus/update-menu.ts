import { sql } from 'kysely';
import { reachOf, withinReach } from '../records/reach.ts';
import {
  changed,
  differs,
  type FieldTypes,
  nextValues,
  type Patch,
  patchOf,
  settlePatch,
} from '../records/update.ts';
import { build, statement } from '../db/statement.ts';
import { type EventType, recordEvents } from '../records/write.ts';
import { acceptedTags, tagMatches } from '../http/conditional.ts';
import type { Call, Reply } from '../http/handler.ts';
import { data, type Json } from '../db/json.ts';
import { ok } from '../http/reply.ts';
import { changedMenu, type Menu, type MenuKey, menuJson, menuTag, requireMenu } from './menu.ts';

type Body = Call<'updateMenu'>['body'];

/** Changes the fields present in the body, in one statement with its events. */
export async function updateMenu(call: Call<'updateMenu'>): Promise<Reply<'updateMenu'>> {
  const { database, params, body, caller, headers, requestId, eventCommitted } = call;
  const values = {
    ...params,
    ...reachOf(caller),
    ...patchOf(fieldTypes, body),
    if_match: acceptedTags(headers['if-match']),
    request_id: requestId,
  };
  const row = await settlePatch(values.if_match, {
    update: () => update(database, values),
    selectCurrent: () => selectCurrent(database, values),
    requireRecord: () => requireMenu(database, params.menu_id, caller),
    eventCommitted,
  });
  return ok(data(row.menu), { ETag: row.etag });
}

const fieldTypes: FieldTypes<Body> = {
  name: 'text',
  description: 'text',
  is_active: 'boolean',
  sort_order: 'integer',
  external_id: 'text',
};

const eventTypes = sql<EventType[]>`array_remove(array[
  case when old.is_active <> new.is_active then 'menu.toggled' end,
  case when ${changed(['name', 'description', 'sort_order', 'external_id'])} then 'menu.updated' end], null)`;

type Values = MenuKey & Patch<Body> & { if_match: string[] | null; request_id: string };
type Row = { etag: string; menu: Json<Menu> };

const update = statement<Values, Row>((p) => {
  const next = nextValues<Body>('menu', fieldTypes, p);
  return build
    .with('changed', (db) =>
      db
        .updateTable('menu')
        .set({
          ...next,
          version: sql`menu.version + 1`,
          content_version: sql`menu.content_version + 1`,
          updated_at: sql`clock_timestamp()`,
        })
        .where('menu_id', '=', p('menu_id', 'bigint'))
        .where(withinReach(p, 'menu'))
        .where(tagMatches(p, menuTag()))
        .where(differs('menu', next))
        .returning([
          ...changedMenu(eventTypes, sql`changed_fields(${menuJson('old')}, ${menuJson('new')})`),
          menuTag('new').as('etag'),
        ]),
    )
    .with('recorded', () => recordEvents('changed', p))
    .selectFrom('changed')
    .select(['etag', sql<Json<Menu>>`data`.as('menu')]);
});

const selectCurrent = statement<Values, Row & { differs: boolean }>((p) =>
  build
    .selectFrom('menu')
    .select([
      menuTag().as('etag'),
      menuJson().as('menu'),
      differs('menu', nextValues<Body>('menu', fieldTypes, p)).as('differs'),
    ])
    .where('menu_id', '=', p('menu_id', 'bigint'))
    .where(withinReach(p, 'menu')),
);
