import { type RawBuilder, sql } from 'kysely';
import { requireMatch } from '../http/conditional.ts';
import type { Param } from '../db/statement.ts';

/*
 * Partial updates. A field that the body lacks keeps its value, null clears it, and a body that says what is there
 * already changes nothing, not even the version.
 */

/** The fields that a body may hold, each a column of the record, with its SQL type. */
export type FieldTypes<Body> = { readonly [F in keyof Body]-?: string };

/** The values of a statement that patches: the fields present in the body, and the value of each field or null. */
export type Patch<Body> = { present: string[] } & { [F in keyof Body]-?: NonNullable<Body[F]> | null };

/** What a body asks for; white space around the name is dropped. */
export function patchOf<Body extends { name?: string }>(types: FieldTypes<Body>, body: Body): Patch<Body> {
  const values = Object.keys(types).map((field) => [field, body[field as keyof Body] ?? null]);
  return {
    present: Object.keys(body),
    ...Object.fromEntries(values),
    name: body.name?.trim() ?? null,
  };
}

/** Whether the body holds the field. */
export function has<Body>(p: Param<Patch<Body>>, field: keyof Body & string): RawBuilder<boolean> {
  return sql`${field} = any (${p('present', 'text[]')})`;
}

/** What each column becomes. */
export function nextValues<Body>(
  table: string,
  types: FieldTypes<Body>,
  p: Param<Patch<Body>>,
): Record<keyof Body & string, RawBuilder<never>> {
  const next = Object.entries<string>(types).map(([name, type]) => {
    const field = name as keyof Body & string;
    return [
      field,
      sql`case when ${has<Body>(p, field)} then ${p(field, type)} else ${sql.ref(`${table}.${field}`)} end`,
    ];
  });
  return Object.fromEntries(next);
}

/** Whether a row is not yet as `next` says. */
export function differs(table: string, next: Record<string, RawBuilder<unknown>>): RawBuilder<boolean> {
  return sql`${fieldsOf(table, Object.keys(next))} is distinct from (${sql.join(Object.values(next))})`;
}

/** Whether the update of a row has changed any of the fields; for its `returning`. */
export function changed(fields: string[]): RawBuilder<boolean> {
  return sql`${fieldsOf('old', fields)} is distinct from ${fieldsOf('new', fields)}`;
}

function fieldsOf(row: string, fields: string[]): RawBuilder<unknown> {
  return sql`(${sql.join(fields.map((field) => sql.ref(`${row}.${field}`)))})`;
}

/** The steps of one partial update; `Row` is what the two statements show of the record. */
export interface PatchSteps<Row> {
  /** Finds no row when there is no such record, when If-Match fails, or when nothing would change. */
  update: () => Promise<Row[]>;
  selectCurrent: () => Promise<(Row & { differs: boolean })[]>;
  /** @throws 404 or 403 when the caller finds no such record. */
  requireRecord: () => Promise<void>;
  eventCommitted: () => void;
}

/**
 * Runs a partial update to its outcome. That nothing would change is decided on a newer snapshot than the update's,
 * so it is tried again should the record have changed in between.
 * @param accepted the tags of If-Match; null: whatever the state is.
 * @returns the record after the change, or as it is when nothing would change.
 * @throws 412, and what `requireRecord` throws.
 */
export async function settlePatch<Row extends { etag: string }>(
  accepted: string[] | null,
  { update, selectCurrent, requireRecord, eventCommitted }: PatchSteps<Row>,
): Promise<Row> {
  for (;;) {
    const [updated] = await update();
    if (updated) {
      eventCommitted();
      return updated;
    }
    const [current] = await selectCurrent();
    if (!current) {
      await requireRecord();
      continue;
    }
    requireMatch(accepted, current.etag);
    if (!current.differs) return current;
  }
}
