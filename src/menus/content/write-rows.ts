/** Statements that write many records of one kind, each with its events. The rows come as JSON. */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { Param, Statement } from '../../db/statement.ts';
import { onConstraint } from '../../records/constraints.ts';
import type { RecordKind } from '../../records/record-kind.ts';
import type { Switching } from '../../records/switches.ts';
import {
  type ChangeOptions,
  type ChangeRow,
  change,
  changedFields,
  type EventTypes,
  list,
  type TouchOptions,
  type Written,
  write,
} from '../../records/write.ts';
import type { Slices } from './planner.ts';

/** The menu that is written, and the request that writes it. */
export interface Target extends Written, Switching {
  account_id: number;
  location_id: number;
  menu_id: number;
}

export type Rows = Target & { /** JSON. */ rows: string };
type Ids = Target & { ids: number[] };

/** Runs a statement for each slice of rows, one after the other. */
export async function writeSlices<Row>(
  write: Statement<Rows, Row>,
  transaction: Database,
  target: Target,
  slices: Slices,
): Promise<Row[]> {
  const shown: Row[] = [];
  for (const rows of slices) shown.push(...(await write(transaction, { ...target, rows })));
  return shown;
}

/** Expressions for columns whose values are not taken from the rows. */
type Assign = (p: Param<Rows>) => Record<string, RawBuilder<unknown>>;

/** A kind of record, with the columns that the rows have. */
export interface RowKind<T> {
  kind: RecordKind<never, T>;
  /** The columns, with their SQL types. */
  columns: Record<string, string>;
  /** The columns, besides the account, that place a new record. */
  within: readonly ('location_id' | 'menu_id')[];
  /** The menus that each change touches; the menu of the import itself is marked by one statement for all changes. */
  touch: TouchOptions;
}

/** A statement, prepared under this name, that deletes the records with the given ids, with their events. */
export function removal<T>(name: string, { kind, touch }: RowKind<T>): Statement<Ids, object> {
  return write(
    name,
    (p: Param<Ids>) => sql<ChangeRow<T>>`
      delete from ${sql.table(kind.table)}
      where ${sql.ref(`${kind.table}_id`)} = any (${p('ids', 'bigint[]')}) and account_id = ${p('account_id', 'bigint')}
      returning ${list(change(kind, `${kind.table}.deleted`, { row: 'old' }))}`,
    ['record'],
    touch,
  );
}

export type Inserted = { id: number; external_id: string | null };

/** A statement, prepared under this name, that inserts the given rows, with their events. */
export function insertion<T>(
  name: string,
  { kind, columns, within, touch }: RowKind<T>,
  assign: Assign = () => ({}),
): Statement<Rows, Inserted> {
  const values = (p: Param<Rows>) => ({
    ...Object.fromEntries(Object.keys(columns).map((column) => [column, sql.ref(column)])),
    ...assign(p),
  });
  const places = ['account_id', ...within] as const;
  const insert = write(
    name,
    (p: Param<Rows>) => sql<ChangeRow<T> & Inserted>`
      insert into ${sql.table(kind.table)} (${sql.join(
        [...places, ...Object.keys(values(p))].map((column) => sql.ref(column)),
      )})
      select ${sql.join([...places.map((column) => p(column, 'bigint')), ...Object.values(values(p))])}
      from ${wantedRows(p, kind.table, columns)}
      returning ${list([
        ...change(kind, `${kind.table}.created`),
        sql.ref(`${kind.table}.${kind.table}_id`).as('id'),
        sql.ref(`${kind.table}.external_id`).as('external_id'),
      ])}`,
    ['id', 'external_id'],
    touch,
  );
  return onConstraint(insert, kind.constraints);
}

/** A statement, prepared under this name, that updates the records in the given rows, with their events. */
export function updating<T>(
  name: string,
  { kind, columns, within, touch }: RowKind<T>,
  eventTypes: EventTypes,
  { previous = changedFields(kind), assign = () => ({}) }: ChangeOptions & { assign?: Assign } = {},
): Statement<Rows, { id: number }> {
  const table = sql.table(kind.table);
  const id = sql.ref(`${kind.table}_id`);
  const values = (p: Param<Rows>) => ({
    ...Object.fromEntries(Object.keys(columns).map((column) => [column, sql.ref(`wanted.${column}`)])),
    ...assign(p),
  });
  // Without a condition on the location: with one, the planner expects few modifiers and compares each with every row.
  const inMenu = (p: Param<Rows>) =>
    within.includes('menu_id') ? sql` and ${table}.menu_id = ${p('menu_id', 'bigint')}` : sql``;
  const update = write(
    name,
    (p: Param<Rows>) => sql<ChangeRow<T> & { id: number }>`
      update ${table}
      set ${sql.join(Object.entries(values(p)).map(([column, value]) => sql`${sql.ref(column)} = ${value}`))},
        version = ${table}.version + 1, stamp = ${p('stamp', 'integer')},
        updated_at = clock_timestamp()
      from ${wantedRows(p, kind.table, columns)}
      where ${table}.${id} = wanted.${id} and ${table}.account_id = ${p('account_id', 'bigint')}${inMenu(p)}
      returning ${list([...change(kind, eventTypes, { previous }), sql.ref(`${kind.table}.${kind.table}_id`).as('id')])}`,
    ['id'],
    touch,
  );
  return onConstraint(update, kind.constraints);
}

/** The price of a row; if the number is the same, the stored one stays, with its trailing zeros. */
export function keptPrice(table: 'item' | 'modifier'): RawBuilder<unknown> {
  const price = sql.ref(`${table}.price`);
  return sql`case when ${price} = wanted.price then ${price} else wanted.price end`;
}

/** Since when and by whom, for a new item or modifier that is unavailable from the start. */
export function firstAbsenceNotes(p: Param<Rows>) {
  return {
    unavailable_since: sql`case when not is_available then clock_timestamp() end`,
    unavailable_by: sql`case when not is_available then ${p('client_id', 'text')} end`,
  };
}

/** The rows of a statement as a table named `wanted`. */
function wantedRows(p: Param<Rows>, table: string, columns: Record<string, string>) {
  const definitions = Object.entries({ [`${table}_id`]: 'bigint', ...columns }).map(
    ([name, type]) => sql`${sql.ref(name)} ${sql.raw(type)}`,
  );
  return sql`json_to_recordset(${p('rows', 'json')}) as wanted (${sql.join(definitions)})`;
}
