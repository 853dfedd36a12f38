import { type Expression, type RawBuilder, type Selectable, sql } from 'kysely';
import type { DB } from '../../generated/database.ts';

declare const shape: unique symbol;

/**
 * JSON text of a `T`. The database builds resources as text, so that the response and the event show the same bytes and
 * no row is parsed and serialized again. Invariant in `T`: text with an extra field does not fit.
 */
export type Json<T> = string & { readonly [shape]: (value: T) => T };

/** JSON text of any shape. */
export type AnyJson = string & { readonly [shape]: unknown };

/** The same in UTF-8, for a body that is sent repeatedly, or that a thread has written. */
export type EncodedJson<T> = Buffer & { readonly [shape]: (value: T) => T };

/** SQL for a JSON object; the compiler checks every field against the contract's type. */
export function jsonObject<T extends object>(
  fields: {
    [K in keyof T]-?: Expression<T[K]> | Expression<Json<T[K]>>;
  },
): RawBuilder<Json<T>> {
  const columns = Object.entries<Expression<unknown>>(fields).map(
    ([name, value]) => sql`${value} as ${sql.id(name)}`,
  );
  return sql`(select to_json(fields) from (select ${sql.join(columns)}) as fields)`;
}

/** The columns of a table under the name that a query gives the row: `columns('item', 'old').price`. */
export function columns<T extends keyof DB>(
  table: T,
  row: string = table,
): { readonly [C in keyof Selectable<DB[T]> & string]: RawBuilder<Selectable<DB[T]>[C]> } {
  return new Proxy({} as never, { get: (_, column: string) => sql.ref(`${row}.${column}`) });
}

/** A timestamp as RFC 3339 in UTC with milliseconds. */
export function rfc3339<T extends Date | null>(
  column: Expression<T>,
): RawBuilder<T extends null ? string | null : string> {
  return sql`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

/** A timestamp in the form that the given interface prescribes, `YYYY-MM-DD HH:MM:SS` in UTC. */
export function spacedDateTime(column: Expression<Date>): RawBuilder<string> {
  return sql`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS')`;
}

/** `{"data": …}`, the envelope of a single resource. */
export function data<T>(resource: Json<T>): Json<{ data: T }> {
  return `{"data":${resource}}` as Json<{ data: T }>;
}
