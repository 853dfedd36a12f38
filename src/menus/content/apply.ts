import { sql } from 'kysely';
import { categories } from '../../categories/category.ts';
import type { Database } from '../../db/database.ts';
import { build, type Param, type Statement, statement } from '../../db/statement.ts';
import { itemEventTypes, previousFields } from '../../items/availability.ts';
import { itemFields, items } from '../../items/item.ts';
import { onConstraint } from '../../records/constraints.ts';
import type { RecordKind, Table } from '../../records/record-kind.ts';
import {
  type ChangeOptions,
  type ChangeRow,
  change,
  changedFields,
  type EventTypes,
  list,
  type Written,
  write,
} from '../../records/write.ts';
import { menuEventTypes, menus } from '../menu.ts';
import type { StoredMenu } from '../stored-menu.ts';
import type { CategoryRow, ItemRow, Plan } from './plan.ts';

/** The menu that is written, and by which request. */
export interface Target extends Written {
  account_id: number;
  location_id: number;
  menu_id: number;
}

/**
 * Does what the plan says: each kind of change is one statement with its events, however many records it touches.
 * @param transaction has locked every record of the menu.
 */
export async function applyPlan(
  transaction: Database,
  target: Target,
  { menu, categories, items }: Plan,
): Promise<void> {
  // What goes makes room for its external_id, and a category can go only once its items have left.
  await deleteItems(transaction, { ...target, ids: items.deleted.map(({ item_id }) => item_id) });
  const inserted = await insertCategories(transaction, { ...target, rows: json(categories.created) });
  const newIds = new Map<string | null, number>(inserted.map(({ id, external_id }) => [external_id, id]));
  const placed = ({ category, ...row }: ItemRow) => ({
    ...row,
    category_id: category.category_id ?? newIds.get(category.external_id),
  });
  await updateItems(transaction, { ...target, rows: json(items.updated.map(({ row }) => placed(row))) });
  await insertItems(transaction, { ...target, rows: json(items.created.map(placed)) });
  await deleteCategories(transaction, { ...target, ids: categories.deleted.map((one) => one.category_id) });
  await updateCategories(transaction, { ...target, rows: json(categories.updated.map(({ row }) => row)) });
  if (menu)
    await updateMenu(transaction, { ...target, rows: json([{ menu_id: target.menu_id, ...menu.row }]) });
  await raiseContentVersion(transaction, target);
}

function json(rows: object[]): string {
  return JSON.stringify(rows);
}

type Rows = Target & { rows: string };
type Ids = Target & { ids: number[] };
type Columns = Record<string, string>;
type Kind<T> = RecordKind<never, T>;

const categoryColumns = {
  external_id: 'text',
  name: 'text',
  description: 'text',
  sort_order: 'integer',
} as const satisfies Record<keyof Omit<CategoryRow, 'category_id'>, string>;

const menuColumns = {
  name: 'text',
  description: 'text',
  is_active: 'boolean',
} as const satisfies Record<keyof StoredMenu['menu'], string>;

// One statement for all of them raises the menu's version.
const options = { touchesMenu: false };

const deleteItems = removal('menus.importMenu.deleteItems', items);
const insertCategories = insertion('menus.importMenu.insertCategories', categories, categoryColumns);
const updateItems = updating('menus.importMenu.updateItems', items, itemFields, itemEventTypes(), {
  previous: previousFields(),
});
const insertItems = insertion('menus.importMenu.insertItems', items, itemFields);
const deleteCategories = removal('menus.importMenu.deleteCategories', categories);
const updateCategories = updating(
  'menus.importMenu.updateCategories',
  categories,
  categoryColumns,
  'category.updated',
);
const updateMenu = updating('menus.importMenu.updateMenu', menus, menuColumns, menuEventTypes());

const raiseContentVersion = statement('menus.importMenu.raiseContentVersion', (p: Param<Target>) =>
  build
    .updateTable('menu')
    .set({ content_version: sql`menu.content_version + 1` })
    .where('menu_id', '=', p('menu_id', 'bigint'))
    .where('account_id', '=', p('account_id', 'bigint')),
);

function removal<T>(name: string, kind: Kind<T>): Statement<Ids, object> {
  return write(
    name,
    (p: Param<Ids>) => sql<ChangeRow<T>>`
      delete from ${sql.table(kind.table)}
      where ${sql.ref(`${kind.table}_id`)} = any (${p('ids', 'bigint[]')}) and account_id = ${p('account_id', 'bigint')}
      returning ${list(change(kind, `${kind.table}.deleted`, { row: 'old' }))}`,
    ['record'],
    options,
  );
}

type Inserted = { id: number; external_id: string | null };

function insertion<T>(name: string, kind: Kind<T>, columns: Columns): Statement<Rows, Inserted> {
  const names = sql.join(Object.keys(columns).map((column) => sql.ref(column)));
  const insert = write(
    name,
    (p: Param<Rows>) => sql<ChangeRow<T> & Inserted>`
      insert into ${sql.table(kind.table)} (account_id, location_id, menu_id, ${names})
      select ${p('account_id', 'bigint')}, ${p('location_id', 'bigint')}, ${p('menu_id', 'bigint')}, ${names}
      from ${wantedRows(p, kind, columns)}
      returning ${list([
        ...change(kind, `${kind.table}.created`),
        sql.ref(`${kind.table}.${kind.table}_id`).as('id'),
        sql.ref(`${kind.table}.external_id`).as('external_id'),
      ])}`,
    ['id', 'external_id'],
    options,
  );
  return onConstraint(insert, kind.constraints);
}

function updating<T>(
  name: string,
  kind: Kind<T>,
  columns: Columns,
  eventTypes: EventTypes,
  { previous = changedFields(kind) }: ChangeOptions = {},
): Statement<Rows, object> {
  const table = sql.table(kind.table);
  const id = sql.ref(`${kind.table}_id`);
  const assignments = Object.keys(columns).map(
    (column) => sql`${sql.ref(column)} = wanted.${sql.ref(column)}`,
  );
  const update = write(
    name,
    (p: Param<Rows>) => sql<ChangeRow<T>>`
      update ${table}
      set ${sql.join(assignments)}, version = ${table}.version + 1, updated_at = clock_timestamp()
      from ${wantedRows(p, kind, columns)}
      where ${table}.${id} = wanted.${id} and ${table}.menu_id = ${p('menu_id', 'bigint')}
        and ${table}.account_id = ${p('account_id', 'bigint')}
      returning ${list(change(kind, eventTypes, { previous }))}`,
    ['record'],
    options,
  );
  return onConstraint(update, kind.constraints);
}

/** The rows of a statement as a table named `wanted`. */
function wantedRows(p: Param<Rows>, { table }: { table: Table }, columns: Columns) {
  const definitions = Object.entries({ [`${table}_id`]: 'bigint', ...columns }).map(
    ([name, type]) => sql`${sql.ref(name)} ${sql.raw(type)}`,
  );
  return sql`json_to_recordset(${p('rows', 'json')}) as wanted (${sql.join(definitions)})`;
}
