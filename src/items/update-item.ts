import { sql } from 'kysely';
import { withinReach } from '../accounts/reach.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { type EventType, recordEvents } from '../events/record.ts';
import { acceptedTags, requireMatch } from '../http/conditional.ts';
import { type FieldError, insufficientScope, parameterError } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { data, type Json } from '../http/json.ts';
import { ok } from '../http/reply.ts';
import { touchMenus } from '../menus/menu.ts';
import {
  changedItem,
  type Item,
  type ItemKey,
  itemJson,
  itemKey,
  itemTag,
  lapsed,
  requireItem,
  storedItemJson,
} from './item.ts';

type Body = Call<'updateItem'>['body'];

/** Changes the fields present in the body, in one statement with its events. */
export async function updateItem(call: Call<'updateItem'>): Promise<Reply<'updateItem'>> {
  const { database, params, body, caller, headers, requestId, eventCommitted } = call;
  requireScope(call);
  requireSense(body);
  const key = itemKey(params, caller);
  const values = {
    ...key,
    ...patchOf(body),
    if_match: acceptedTags(headers['if-match']),
    request_id: requestId,
  };

  // The statement finds no row when there is no such item, when If-Match fails, or when nothing would change.
  // The last is decided on a newer snapshot, so it is tried again should the item have changed in between.
  for (;;) {
    const [changed] = await update(database, values);
    if (changed) {
      eventCommitted();
      return ok(data(changed.item), { ETag: changed.etag });
    }
    const [current] = await selectCurrent(database, values);
    if (!current) {
      await requireItem(database, key);
      continue;
    }
    requireMatch(values.if_match, current.etag);
    if (!current.differs) return ok(data(current.item), { ETag: current.etag });
  }
}

const stockFields = ['is_available', 'unavailable_until'];

// The contract lets availability:write do this call; a schema cannot say for which bodies.
function requireScope({ caller, body }: Call<'updateItem'>): void {
  const beyond = Object.keys(body).some((field) => !stockFields.includes(field));
  if (beyond && !caller.scopes.has('menus:write')) throw insufficientScope(['menus:write']);
}

function requireSense({ is_available, unavailable_until }: Body): void {
  if (unavailable_until == null) return;
  const errors: FieldError[] = [];
  const field = '/unavailable_until';
  if (is_available === true)
    errors.push({ field, code: 'conflict', message: 'cannot be set on an available item' });
  if (Date.parse(unavailable_until) <= Date.now())
    errors.push({ field, code: 'past', message: 'is in the past' });
  if (errors.length > 0) throw parameterError(errors);
}

const columnTypes = {
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
} as const satisfies Record<keyof Body, string>;

type Field = keyof typeof columnTypes;
type Patch = { present: Field[] } & { [F in Field]: NonNullable<Body[F]> | null };
type Values = ItemKey & Patch & { if_match: string[] | null };

function patchOf(body: Body): Patch {
  const values = Object.keys(columnTypes).map((field) => [field, body[field as Field] ?? null]);
  return {
    present: Object.keys(body) as Field[],
    ...Object.fromEntries(values),
    name: body.name?.trim() ?? null,
  };
}

/** What each column becomes; a later availability change ends an earlier "until". */
function nextValues(p: Param<Values>) {
  const has = (field: Field) => sql<boolean>`${field} = any (${p('present', 'text[]')})`;
  const value = (field: Field) => p(field, columnTypes[field]);
  const edited = (Object.keys(columnTypes) as Field[])
    .filter((field) => !stockFields.includes(field))
    .map((field) => [
      field,
      sql`case when ${has(field)} then ${value(field)} else ${sql.ref(`item.${field}`)} end`,
    ]);
  const is_available = sql<boolean>`case
    when ${has('is_available')} then ${value('is_available')}
    when ${value('unavailable_until')} is not null then false
    else item.is_available or ${lapsed()} end`;
  const unavailable_until = sql`case
    when ${is_available} then null
    when ${has('unavailable_until')} then ${value('unavailable_until')}
    when not ${lapsed()} then item.unavailable_until end`;
  return { ...Object.fromEntries(edited), is_available, unavailable_until };
}

function row(name: string, fields: string[]) {
  return sql`(${sql.join(fields.map((field) => sql.ref(`${name}.${field}`)))})`;
}

function differs(p: Param<Values>) {
  const next = nextValues(p);
  return sql<boolean>`${row('item', Object.keys(next))} is distinct from (${sql.join(Object.values(next))})`;
}

const fields = Object.keys(columnTypes);
const plainFields = fields.filter((field) => field !== 'is_available' && field !== 'unavailable_until');

const eventTypes = sql<EventType[]>`array_remove(array[
  case when old.is_available <> new.is_available then 'item.toggled' end,
  case when ${row('old', plainFields)} is distinct from ${row('new', plainFields)}
    or old.is_available = new.is_available and old.unavailable_until is distinct from new.unavailable_until
    then 'item.updated' end], null)`;

const update = statement<Values & { request_id: string }, { etag: string; item: Json<Item> }>((p) =>
  build
    .with('changed', (db) =>
      db
        .updateTable('item')
        .set({ ...nextValues(p), version: sql`item.version + 1`, updated_at: sql`clock_timestamp()` })
        .where('item_id', '=', p('item_id', 'bigint'))
        .where('menu_id', '=', p('menu_id', 'bigint'))
        .where(withinReach(p, 'item'))
        .where(
          sql<boolean>`(${p('if_match', 'text[]')} is null or ${itemTag()} = any (${p('if_match', 'text[]')}))`,
        )
        .where(differs(p))
        .returning([
          ...changedItem(eventTypes, sql`changed_fields(${storedItemJson('old')}, ${itemJson('new')})`),
          itemTag('new').as('etag'),
        ]),
    )
    .with('recorded', () => recordEvents('changed', p))
    .with('touched', () => touchMenus('changed'))
    .selectFrom('changed')
    .select(['etag', sql<Json<Item>>`data`.as('item')]),
);

const selectCurrent = statement<Values, { etag: string; item: Json<Item>; differs: boolean }>((p) =>
  build
    .selectFrom('item')
    .select([itemTag().as('etag'), itemJson().as('item'), differs(p).as('differs')])
    .where('item_id', '=', p('item_id', 'bigint'))
    .where('menu_id', '=', p('menu_id', 'bigint'))
    .where(withinReach(p, 'item')),
);
