import { sql } from 'kysely';
import type { Json } from '../db/json.ts';
import type { Param, Statement } from '../db/statement.ts';
import { onConstraint } from './constraints.ts';
import type { Reach } from './reach.ts';
import { isReachable, type RecordKind, type Table } from './record-kind.ts';
import { nextSortOrder } from './sort-order.ts';
import { type ChangeRow, change, list, type Written, write } from './write.ts';

/** The SQL types of the columns that callers fill. */
type ColumnTypes<Fields> = { readonly [F in keyof Fields]-?: string };

export interface CreateSpec<Key extends Reach, Fields extends { sort_order: number | null }, T> {
  name: string;
  kind: RecordKind<never, T>;
  parent: {
    table: Exclude<Table, 'item'>;
    path: readonly (keyof Key & string)[];
    /** Columns of the parent that the new row has as well, beside account_id and location_id. */
    inherited: readonly string[];
    /** Held from the start, so that a parent that is being deleted is none then, not a foreign key that fails. */
    held: boolean;
  };
  fields: ColumnTypes<Fields>;
  /** False for menus, which are not inside one. */
  touchesMenu?: boolean;
}

/** What the caller is shown of the new record. */
export interface Created<T> {
  id: number;
  etag: string;
  resource: Json<T>;
}

/**
 * The insert of one record below another, as one statement with its event.
 * @returns a statement that gives back nothing when the caller has no such parent.
 */
export function creation<Key extends Reach, Fields extends { sort_order: number | null }, T>({
  name,
  kind,
  parent,
  fields,
  touchesMenu = true,
}: CreateSpec<Key, Fields, T>): Statement<Key & Fields & Written, Created<T>> {
  const id = `${kind.table}_id`;
  const inherited = ['account_id', 'location_id', ...parent.inherited].map((column) => sql.ref(column));
  const { sort_order: sortOrderType, ...plain } = fields;
  const named = Object.entries<string>(plain) as [keyof Fields & string, string][];
  const insert = (p: Param<Key & Fields & Written>) => sql<ChangeRow<T> & Created<T>>`
    insert into ${sql.table(kind.table)} (${sql.join([...inherited, ...named.map(([field]) => sql.ref(field)), sql.ref('sort_order')])})
    with home as (
      select ${sql.join(inherited)} from ${sql.table(parent.table)} where ${isReachable(parent, p)}
      ${parent.held ? sql`for key share` : sql``}
    )
    select ${sql.join([
      ...inherited,
      ...named.map(([field, type]) => p(field, type)),
      nextSortOrder(p('sort_order', sortOrderType), kind.table, `${parent.table}_id`),
    ])}
    from home
    returning ${list([
      ...change(kind, `${kind.table}.created`),
      sql.ref(`${kind.table}.${id}`).as('id'),
      kind.eTag('new').as('etag'),
    ])}`;
  const create = write(name, insert, ['id', 'etag', 'resource'], { touchesMenu });
  return onConstraint(create, kind.constraints);
}
