import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Json } from '../db/json.ts';
import { build, type Param, type Statement, statement } from '../db/statement.ts';
import type { ConstraintErrors } from './constraints.ts';
import { type Reach, requireReach, withinReach } from './reach.ts';

/** The tables whose rows are records: each change of one fires an event. */
export type Table = 'location' | 'menu' | 'category' | 'item' | 'modifier_group' | 'modifier';

/** What the statements on one kind of record share. */
export interface RecordKind<Key extends Reach, T> {
  table: Table;
  /** The columns of the path that leads to one record. */
  path: readonly (keyof Key & string)[];
  /** A row as the API shows it; `row` is the name that the query gives it. */
  json(row?: string): RawBuilder<Json<T>>;
  /** The fields that events compare, of a row as it is stored. */
  compared(row: string): Record<string, RawBuilder<unknown>>;
  /** Its ETag, quotes included. */
  eTag(row?: string): RawBuilder<string>;
  /** Constraints that its creates, updates and deletes may violate. */
  constraints: ConstraintErrors;
}

/** Whether a row is the record at this path. */
export function isAtPath<Key extends Reach>(
  { table, path }: Pick<RecordKind<Key, unknown>, 'table' | 'path'>,
  p: Param<Key>,
): RawBuilder<boolean> {
  const conditions = path.map((column) => sql`${sql.ref(`${table}.${column}`)} = ${p(column, 'bigint')}`);
  return sql`(${sql.join(conditions, sql` and `)})`;
}

/** Whether a row is the record at this path and the caller may act on it. */
export function isReachable<Key extends Reach>(
  kind: Pick<RecordKind<Key, unknown>, 'table' | 'path'>,
  p: Param<Key>,
): RawBuilder<boolean> {
  return sql`(${isAtPath(kind, p)} and ${withinReach(p, kind.table)})`;
}

/** Explains why a statement on one record found none. @throws 404 or 403, unless the caller may act on it. */
export type RequireRecord<Key> = (database: Database, key: Key) => Promise<void>;

/** @param name of its statement. */
export function requireRecord<Key extends Reach>(
  name: string,
  kind: Pick<RecordKind<Key, unknown>, 'table' | 'path'>,
): RequireRecord<Key> {
  const select: Statement<Key, { within_reach: boolean }> = statement(name, (p: Param<Key>) =>
    build
      .selectFrom(kind.table)
      .select(withinReach(p, kind.table).as('within_reach'))
      .where(isAtPath(kind, p)),
  );
  return async (database, key) => {
    const [row] = await select(database, key);
    requireReach(row, kind.table.replace('_', ' '));
  };
}
