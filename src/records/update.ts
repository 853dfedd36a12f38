/**
 * Partial updates. A field that the body lacks keeps its value, null clears it, and a body that changes no value
 * changes nothing, not even the version.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { AnyJson, Json } from '../db/json.ts';
import { build, type Param, type Statement, statement } from '../db/statement.ts';
import { acceptedETags, eTagMatches, type IfMatch, requireMatch } from '../http/conditional.ts';
import type { ApiError } from '../http/errors.ts';
import { onConstraint } from './constraints.ts';
import type { Reach } from './reach.ts';
import { isReachable, type RecordKind, type RequireRecord } from './record-kind.ts';
import {
  change,
  changedColumns,
  changedFields,
  type EventTypes,
  list,
  raised,
  type TouchOptions,
  type Written,
  writeOf,
  written,
} from './write.ts';

/** The fields that a body may hold, each a column of the record, with its SQL type. */
export type FieldTypes<Body> = { readonly [F in keyof Body]-?: string };

/** The values of an update: the fields present in the body, and the value of each field or null. */
export type Fields<Body> = { present: string[] } & { [F in keyof Body]-?: NonNullable<Body[F]> | null };

/** The values of one update's statement. */
export type UpdateValues<Key, Body> = Key & Fields<Body> & IfMatch & Written;

/** The new values of the columns, by name. */
export type NextValues = Record<string, RawBuilder<unknown>>;

export interface UpdateSpec<Key extends Reach, Body, T> {
  name: string;
  kind: RecordKind<Key, T>;
  fields: FieldTypes<Body>;
  require: RequireRecord<Key>;
  eventTypes: EventTypes;
  /** Old values of the changed fields, where these are not simply those that differ. */
  previous?: RawBuilder<AnyJson | null>;
  /** Columns that do not simply get the value in the body. */
  next?: (p: Param<Key & Fields<Body>>) => NextValues;
  /** What is assigned instead of the value in `next`, which is compared, if the assignment does more than set it. */
  assign?: (p: Param<Key & Fields<Body>>) => NextValues;
  /** A column that each change raises together with `version`; then no menu has to be marked. */
  contentVersion?: boolean;
  /** How other records restrict the values. */
  terms?: Terms<UpdateValues<Key, Body>>;
  /** How to find the menus that show the record; absent: by its own menu_id. */
  options?: TouchOptions;
}

/** What an update depends on besides the record itself: one row of other records, locked until the commit. */
export interface Terms<V> {
  /** Finds and locks the row; the statement can use it as `terms`. */
  find: (p: Param<V>) => RawBuilder<unknown>;
  /** Whether the row allows the values. */
  allow: (p: Param<V>) => RawBuilder<boolean>;
  /** The columns from which the error is made. */
  show: RawBuilder<string>;
  refusal: (shown: string) => ApiError;
}

type Updating<Key, Body, T> = Statement<UpdateValues<Key, Body>, Shown<T>>;

/** What the caller is shown of the record. */
export interface Shown<T> {
  etag: string;
  resource: Json<T>;
}

/** The part of a call that an update uses. */
interface UpdateCall {
  database: Database;
  headers: { 'if-match'?: string };
  requestId: string;
}

/**
 * The update of one kind of record, as one statement with its events.
 * @param share returns the update to use instead of the one that runs alone
 * @returns a function that returns the record after the change, or as it is if nothing would change. It throws 412,
 *   and what `require` throws.
 */
export function partialUpdate<Key extends Reach, Body extends { name?: string }, T>(
  spec: UpdateSpec<Key, Body, T>,
  share: (alone: Updating<Key, Body, T>) => Updating<Key, Body, T> = (alone) => alone,
): (call: UpdateCall, key: Key, body: Body) => Promise<Shown<T>> {
  const update = share(updateStatement(spec));
  const selectCurrent = currentStatement(spec);
  return async ({ database, headers, requestId }, key, body) => {
    const if_match = acceptedETags(headers['if-match']);
    const values = { ...key, ...fieldsOf(spec.fields, body), if_match, ...written(requestId) };
    // Whether anything would change is checked on a newer snapshot than the update's, so if the record has changed in
    // between, the update is tried again.
    for (;;) {
      const [updated] = await update(database, values);
      if (updated) return updated;
      const [current] = await selectCurrent(database, values);
      if (!current) {
        await spec.require(database, key);
        continue;
      }
      requireMatch(if_match, current.etag);
      if (!current.differs) return current;
      if (spec.terms && current.refused !== null) throw spec.terms.refusal(current.refused);
    }
  };
}

/** The fields of a body. White space around the name is removed. */
function fieldsOf<Body extends { name?: string }>(types: FieldTypes<Body>, body: Body): Fields<Body> {
  const values = Object.keys(types).map((field) => [field, body[field as keyof Body] ?? null]);
  return {
    present: Object.keys(body),
    ...Object.fromEntries(values),
    name: body.name?.trim() ?? null,
  };
}

function updateStatement<Key extends Reach, Body, T>(spec: UpdateSpec<Key, Body, T>): Updating<Key, Body, T> {
  const { name, kind, contentVersion = false, terms } = spec;
  const { options = { touchesMenu: !contentVersion } } = spec;
  const execute = writeOf<UpdateValues<Key, Body>, Shown<T>>(name, (p) => {
    const { assigned, isDue, returned } = updateParts(spec, p);
    return {
      ...(terms && { before: sql`terms as materialized (${terms.find(p)})` }),
      change: sql`
      update ${sql.table(kind.table)} set ${assigned}
      ${terms ? sql`from terms` : sql``}
      where ${isReachable(kind, p)} and ${isDue}
      returning ${returned}`,
      ...options,
      response: changedColumns(['etag', 'resource']),
    };
  });
  return onConstraint(execute, kind.constraints);
}

/**
 * The parts of an update.
 * @param p the parameters with the values
 * @param without fields that the body does not contain
 * @returns the assignments, whether a row has to be changed, and what is returned of it
 */
export function updateParts<Key extends Reach, Body, T>(
  spec: UpdateSpec<Key, Body, T>,
  p: Param<UpdateValues<Key, Body>>,
  without: readonly string[] = [],
): { assigned: RawBuilder<unknown>; isDue: RawBuilder<boolean>; returned: RawBuilder<unknown> } {
  const { kind, eventTypes, previous = changedFields(kind), contentVersion = false, terms } = spec;
  const those = (values: NextValues) =>
    Object.fromEntries(Object.entries(values).filter(([field]) => !without.includes(field)));
  const next = those(nextValues(spec, p));
  const count = sql`${sql.ref(`${kind.table}.content_version`)} + 1`;
  const values = {
    ...next,
    ...those(spec.assign?.(p) ?? {}),
    ...raised(p, kind.table),
    ...(contentVersion && { content_version: count }),
  };
  return {
    assigned: sql.join(Object.entries(values).map(([field, value]) => sql`${sql.ref(field)} = ${value}`)),
    isDue: sql`${eTagMatches(p, kind.eTag())} and ${differs(kind.table, next)}
      ${terms ? sql`and ${terms.allow(p)}` : sql``}`,
    returned: list([...change(kind, eventTypes, { previous }), kind.eTag('new').as('etag')]),
  };
}

function currentStatement<Key extends Reach, Body, T>(
  spec: UpdateSpec<Key, Body, T>,
): Statement<UpdateValues<Key, Body>, Shown<T> & { differs: boolean; refused: string | null }> {
  const { name, kind, terms } = spec;
  const refused = (p: Param<UpdateValues<Key, Body>>): RawBuilder<string | null> =>
    terms
      ? sql`(select ${terms.show} from (${terms.find(p)}) as terms where not ${terms.allow(p)})`
      : sql`null`;
  return statement(`${name}.current`, (p: Param<UpdateValues<Key, Body>>) =>
    build
      .selectFrom(kind.table)
      .select([
        kind.eTag().as('etag'),
        kind.json().as('resource'),
        differs(kind.table, nextValues(spec, p)).as('differs'),
        refused(p).as('refused'),
      ])
      .where(isReachable(kind, p)),
  );
}

function nextValues<Key extends Reach, Body, T>(
  { kind, fields, next }: UpdateSpec<Key, Body, T>,
  p: Param<Key & Fields<Body>>,
): NextValues {
  const plain = Object.entries<string>(fields).map(([field, type]) => [
    field,
    sql`case when ${isPresent(p, field)} then ${p(field as never, type)} else ${sql.ref(`${kind.table}.${field}`)} end`,
  ]);
  return { ...Object.fromEntries(plain), ...next?.(p) };
}

/** Whether the body has the field. */
export function isPresent<Body>(p: Param<Fields<Body>>, field: string): RawBuilder<boolean> {
  return sql`${sql.lit(field)} = any (${p('present', 'text[]')})`;
}

/** Whether a row differs from `next`. */
export function differs(table: string, next: NextValues): RawBuilder<boolean> {
  return sql`${fieldsIn(table, Object.keys(next))} is distinct from (${sql.join(Object.values(next))})`;
}

/** Whether the update of a row has changed any of the fields; for its `returning`. */
export function hasChanged(fields: readonly string[]): RawBuilder<boolean> {
  return sql`${fieldsIn('old', fields)} is distinct from ${fieldsIn('new', fields)}`;
}

function fieldsIn(row: string, fields: readonly string[]): RawBuilder<unknown> {
  return sql`(${sql.join(fields.map((field) => sql.ref(`${row}.${field}`)))})`;
}
