import { sql } from 'kysely';
import { withinReach } from '../records/reach.ts';
import {
  changed,
  differs,
  type FieldTypes,
  has,
  nextValues,
  type Patch,
  patchOf,
  settlePatch,
} from '../records/update.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { type EventType, recordEvents } from '../records/write.ts';
import { acceptedTags, tagMatches } from '../http/conditional.ts';
import { insufficientScope } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { data, type Json } from '../db/json.ts';
import { ok } from '../http/reply.ts';
import { touchMenus } from '../menus/menu.ts';
import { previousFields, requireSensibleAbsence, switched } from './availability.ts';
import {
  changedItem,
  type Item,
  type ItemKey,
  itemJson,
  itemKey,
  itemTag,
  lapsed,
  requireItem,
} from './item.ts';

type Body = Call<'updateItem'>['body'];

/** Changes the fields present in the body, in one statement with its events. */
export async function updateItem(call: Call<'updateItem'>): Promise<Reply<'updateItem'>> {
  const { database, params, body, caller, headers, requestId, eventCommitted } = call;
  requireScope(call);
  requireSensibleAbsence(body);
  const key = itemKey(params, caller);
  const values = {
    ...key,
    ...patchOf(fieldTypes, body),
    if_match: acceptedTags(headers['if-match']),
    request_id: requestId,
  };
  const row = await settlePatch(values.if_match, {
    update: () => update(database, values),
    selectCurrent: () => selectCurrent(database, values),
    requireRecord: () => requireItem(database, key),
    eventCommitted,
  });
  return ok(data(row.item), { ETag: row.etag });
}

const stockFields = ['is_available', 'unavailable_until'];

// The contract lets availability:write do this call; a schema cannot say for which bodies.
function requireScope({ caller, body }: Call<'updateItem'>): void {
  const beyond = Object.keys(body).some((field) => !stockFields.includes(field));
  if (beyond && !caller.scopes.has('menus:write')) throw insufficientScope(['menus:write']);
}

const fieldTypes: FieldTypes<Body> = {
  category_id: 'bigint',
  name: 'text',
  description: 'text',
  price: 'numeric',
  photo_url: 'text',
  allergens: 'text[]',
  dietary_tags: 'text[]',
  is_available: 'boolean',
  unavailable_until: 'timestamptz',
  sort_order: 'integer',
  external_id: 'text',
};

type Values = ItemKey & Patch<Body> & { if_match: string[] | null; request_id: string };
type Row = { etag: string; item: Json<Item> };

/** What each column becomes; a later availability change ends an earlier "until". */
function nextItem(p: Param<Values>) {
  const until = p('unavailable_until', 'timestamptz');
  const is_available = sql<boolean>`case
    when ${has<Body>(p, 'is_available')} then ${p('is_available', 'boolean')}
    when ${until} is not null then false
    else item.is_available or ${lapsed()} end`;
  const unavailable_until = sql<never>`case
    when ${is_available} then null
    when ${has<Body>(p, 'unavailable_until')} then ${until}
    when not ${lapsed()} then item.unavailable_until end`;
  return { ...nextValues<Body>('item', fieldTypes, p), is_available, unavailable_until };
}

const plainFields = Object.keys(fieldTypes).filter((field) => !stockFields.includes(field));

const eventTypes = sql<EventType[]>`array_remove(array[
  case when ${switched()} then 'item.toggled' end,
  case when ${changed(plainFields)}
    or not ${switched()} and old.unavailable_until is distinct from new.unavailable_until
    then 'item.updated' end], null)`;

const update = statement<Values, Row>((p) => {
  const next = nextItem(p);
  return build
    .with('target', (db) =>
      db
        .selectFrom('category')
        .select('category_id')
        .where('category_id', '=', p('category_id', 'bigint'))
        .where('menu_id', '=', p('menu_id', 'bigint'))
        .forKeyShare(),
    )
    .with('changed', (db) =>
      db
        .updateTable('item')
        .set({ ...next, version: sql`item.version + 1`, updated_at: sql`clock_timestamp()` })
        .where('item_id', '=', p('item_id', 'bigint'))
        .where('menu_id', '=', p('menu_id', 'bigint'))
        .where(withinReach(p, 'item'))
        .where(tagMatches(p, itemTag()))
        .where(differs('item', next))
        // The foreign key would lock the new category too, but last: after the menu, out of order.
        .where(sql<boolean>`(select count(*) from target) >= 0`)
        .returning([...changedItem(eventTypes, previousFields()), itemTag('new').as('etag')]),
    )
    .with('recorded', () => recordEvents('changed', p))
    .with('touched', () => touchMenus('changed'))
    .selectFrom('changed')
    .select(['etag', sql<Json<Item>>`data`.as('item')]);
});

const selectCurrent = statement<Values, Row & { differs: boolean }>((p) =>
  build
    .selectFrom('item')
    .select([itemTag().as('etag'), itemJson().as('item'), differs('item', nextItem(p)).as('differs')])
    .where('item_id', '=', p('item_id', 'bigint'))
    .where('menu_id', '=', p('menu_id', 'bigint'))
    .where(withinReach(p, 'item')),
);
