import { sql } from 'kysely';
import { reachOf, withinReach } from '../records/reach.ts';
import { build, statement } from '../db/statement.ts';
import { recordEvents } from '../records/write.ts';
import { acceptedTags, tagMatches } from '../http/conditional.ts';
import { preconditionFailed } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { data, type Json, jsonObject } from '../db/json.ts';
import { ok } from '../http/reply.ts';
import { changedMenu, type Menu, type MenuKey, menuTag, requireMenu } from './menu.ts';

export async function toggleMenu(call: Call<'toggleMenu'>): Promise<Reply<'toggleMenu'>> {
  const { database, params, caller, headers, requestId, eventCommitted } = call;
  const [row] = await toggle(database, {
    ...params,
    ...reachOf(caller),
    if_match: acceptedTags(headers['if-match']),
    request_id: requestId,
  });
  if (!row) {
    await requireMenu(database, params.menu_id, caller);
    throw preconditionFailed();
  }
  eventCommitted();
  return ok(data(row.menu), { ETag: row.etag });
}

const toggle = statement<
  MenuKey & { if_match: string[] | null; request_id: string },
  { etag: string; menu: Json<Menu> }
>((p) =>
  build
    .with('changed', (db) =>
      db
        .updateTable('menu')
        .set({
          is_active: sql`not menu.is_active`,
          version: sql`menu.version + 1`,
          content_version: sql`menu.content_version + 1`,
          updated_at: sql`clock_timestamp()`,
        })
        .where('menu_id', '=', p('menu_id', 'bigint'))
        .where(withinReach(p, 'menu'))
        .where(tagMatches(p, menuTag()))
        .returning([
          ...changedMenu(
            sql`array['menu.toggled']`,
            jsonObject<{ is_active: boolean }>({ is_active: sql`old.is_active` }),
          ),
          menuTag('new').as('etag'),
        ]),
    )
    .with('recorded', () => recordEvents('changed', p))
    .selectFrom('changed')
    .select(['etag', sql<Json<Menu>>`data`.as('menu')]),
);
