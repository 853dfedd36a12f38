import { type RawBuilder, sql } from 'kysely';
import type { Json } from '../db/json.ts';
import type { Param, Statement } from '../db/statement.ts';
import { onConstraint } from './constraints.ts';
import type { Reach } from './reach.ts';
import { isReachable, type RecordKind, type Table } from './record-kind.ts';
import { nextSortOrder } from './sort-order.ts';
import { type ChangeRow, change, list, type TouchOptions, type Written, write } from './write.ts';

/** The SQL types of the columns that callers fill. */
type ColumnTypes<Fields> = { readonly [F in keyof Fields]-?: string };

export interface CreateSpec<Key extends Reach, Fields extends { sort_order: number | null }, T> {
  name: string;
  kind: RecordKind<never, T>;
  parent: {
    table: Exclude<Table, 'item' | 'modifier'>;
    path: readonly (keyof Key & string)[];
    /** Columns that the new row shares with its parent, besides account_id and location_id. */
    inherited: readonly string[];
    /**
     * Locked from the start, so that a parent that is being deleted counts as missing, instead of violating a foreign
     * key.
     */
    held: boolean;
  };
  fields: ColumnTypes<Fields>;
  /** How other records restrict the values. */
  terms?: CreateTerms<Key & Fields>;
}

/** What a new record depends on besides its parent. */
export interface CreateTerms<V> {
  /** Finds one row of other records by the parent, `home`, and locks it; the statement can use it as `terms`. */
  find: RawBuilder<unknown>;
  /** Whether the row allows the values; if not, nothing is created. */
  allow: (p: Param<V>) => RawBuilder<boolean>;
  /** Values that replace given ones, and values of further columns. */
  assign: (p: Param<V>) => Record<string, RawBuilder<unknown>>;
}

/** What the caller is shown of the new record. */
export interface Created<T> {
  id: number;
  etag: string;
  resource: Json<T>;
}

/** What a creation returns. */
export const shownOfCreated = ['id', 'etag', 'resource'] as const;

/**
 * The insert of one record below another, as one statement with its event.
 * @returns a statement that returns no row when the caller has no such parent.
 */
export function creation<Key extends Reach, Fields extends { sort_order: number | null }, T>(
  spec: CreateSpec<Key, Fields, T>,
  options: TouchOptions = {},
): Statement<Key & Fields & Written, Created<T>> {
  const create = write<Key & Fields & Written, ChangeRow<T> & Created<T>, keyof Created<T>>(
    spec.name,
    insertion(spec),
    shownOfCreated,
    options,
  );
  return onConstraint(create, spec.kind.constraints);
}

/** The change of that statement. */
export function insertion<Key extends Reach, Fields extends { sort_order: number | null }, T>({
  kind,
  parent,
  fields,
  terms,
}: CreateSpec<Key, Fields, T>) {
  const id = `${kind.table}_id`;
  const inherited = ['account_id', 'location_id', ...parent.inherited].map((column) => sql.ref(column));
  const { sort_order: sortOrderType, ...plain } = fields;
  const named = Object.entries<string>(plain) as [keyof Fields & string, string][];
  return (p: Param<Key & Fields & Written>) => {
    const values = {
      ...Object.fromEntries(named.map(([field, type]) => [field, p(field, type)])),
      ...terms?.assign(p),
    };
    return sql<ChangeRow<T> & Created<T>>`
    insert into ${sql.table(kind.table)} (${sql.join([...inherited, ...Object.keys(values).map((column) => sql.ref(column)), sql.ref('sort_order')])})
    with home as (
      select ${sql.join(inherited)} from ${sql.table(parent.table)} where ${isReachable(parent, p)}
      ${parent.held ? sql`for key share` : sql``}
    )
    ${terms ? sql`, terms as materialized (${terms.find})` : sql``}
    select ${sql.join([
      ...inherited,
      ...Object.values(values),
      nextSortOrder(p('sort_order', sortOrderType), kind.table, `${parent.table}_id`),
    ])}
    from home ${terms ? sql`cross join terms where ${terms.allow(p)}` : sql``}
    returning ${list([
      ...change(kind, `${kind.table}.created`),
      sql.ref(`${kind.table}.${id}`).as('id'),
      kind.eTag('new').as('etag'),
    ])}`;
  };
}
