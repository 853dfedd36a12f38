import { type RawBuilder, sql } from 'kysely';
import { categoryJson, changedCategory } from '../../categories/category.ts';
import type { Database } from '../../db/database.ts';
import { changed } from '../../records/update.ts';
import { build, type Param, statement } from '../../db/statement.ts';
import { type EventType, recordEvents } from '../../records/write.ts';
import { previousFields, switched } from '../../items/availability.ts';
import { changedItem } from '../../items/item.ts';
import { changedMenu, menuJson } from '../menu.ts';
import type { CategoryRow, ItemRow, Plan } from './plan.ts';
import type { StoredMenu } from './stored.ts';

/** The menu that is written, and by which request. */
export interface Target {
  account_id: number;
  location_id: number;
  menu_id: number;
  request_id: string;
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
  const made = await insertCategories(transaction, { ...target, rows: json(categories.created) });
  const newIds = new Map<string | null, number>(made.map((one) => [one.external_id, one.category_id]));
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

const itemColumns = {
  category_id: 'bigint',
  external_id: 'text',
  name: 'text',
  description: 'text',
  price: 'numeric',
  photo_url: 'text',
  allergens: 'text[]',
  dietary_tags: 'text[]',
  is_available: 'boolean',
  unavailable_until: 'timestamptz',
  sort_order: 'integer',
} as const satisfies Record<keyof Omit<ItemRow, 'item_id' | 'category'> | 'category_id', string>;

const stockColumns = ['is_available', 'unavailable_until'];

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

const deleteItems = statement<Ids, object>((p) =>
  remove(p, 'item', changedItem(sql`array['item.deleted']`, undefined, 'old')).select('record'),
);

const deleteCategories = statement<Ids, object>((p) =>
  remove(p, 'category', changedCategory(sql`array['category.deleted']`, undefined, 'old')).select('record'),
);

const insertCategories = statement<Rows, { category_id: number; external_id: string }>((p) =>
  insert(p, 'category', categoryColumns, [
    ...changedCategory(sql`array['category.created']`),
    sql`category.category_id`.as('category_id'),
    sql`category.external_id`.as('external_id'),
  ]).select(['category_id', 'external_id']),
);

const insertItems = statement<Rows, object>((p) =>
  insert(p, 'item', itemColumns, changedItem(sql`array['item.created']`)).select('record'),
);

// A planned return that changes with the switch belongs to the switch.
const itemEventTypes = sql<EventType[]>`array_remove(array[
  case when ${switched()} then 'item.toggled' end,
  case when ${changed(Object.keys(itemColumns).filter((name) => !stockColumns.includes(name)))}
    or not ${switched()} and old.unavailable_until is distinct from new.unavailable_until
    then 'item.updated' end], null)`;

const updateItems = statement<Rows, object>((p) =>
  update(p, 'item', itemColumns, changedItem(itemEventTypes, previousFields())).select('record'),
);

const updateCategories = statement<Rows, object>((p) =>
  update(
    p,
    'category',
    categoryColumns,
    changedCategory(
      sql`array['category.updated']`,
      sql`changed_fields(${categoryJson('old')}, ${categoryJson('new')})`,
    ),
  ).select('record'),
);

const menuEventTypes = sql<EventType[]>`array_remove(array[
  case when old.is_active <> new.is_active then 'menu.toggled' end,
  case when ${changed(['name', 'description'])} then 'menu.updated' end], null)`;

const updateMenu = statement<Rows, object>((p) =>
  update(
    p,
    'menu',
    menuColumns,
    changedMenu(menuEventTypes, sql`changed_fields(${menuJson('old')}, ${menuJson('new')})`),
  ).select('record'),
);

const raiseContentVersion = statement<Target, object>((p) =>
  build
    .updateTable('menu')
    .set({ content_version: sql`menu.content_version + 1` })
    .where('menu_id', '=', p('menu_id', 'bigint'))
    .where('account_id', '=', p('account_id', 'bigint')),
);

type Table = 'item' | 'category' | 'menu';
type Columns = Record<string, string>;
type Returning = readonly { toOperationNode(): unknown }[];

function remove(p: Param<Ids>, table: Table, returned: Returning) {
  return recorded(
    p,
    sql`delete from ${sql.table(table)}
      where ${sql.ref(`${table}_id`)} = any (${p('ids', 'bigint[]')}) and account_id = ${p('account_id', 'bigint')}
      returning ${list(returned)}`,
  );
}

function insert(p: Param<Rows>, table: Table, columns: Columns, returned: Returning) {
  return recorded(
    p,
    sql`insert into ${sql.table(table)} (account_id, location_id, menu_id, ${names(columns)})
      select ${p('account_id', 'bigint')}, ${p('location_id', 'bigint')}, ${p('menu_id', 'bigint')}, ${names(columns)}
      from ${given(p, table, columns)}
      returning ${list(returned)}`,
  );
}

function update(p: Param<Rows>, table: Table, columns: Columns, returned: Returning) {
  const id = `${table}_id`;
  const assignments = Object.keys(columns).map((name) => sql`${sql.ref(name)} = given.${sql.ref(name)}`);
  return recorded(
    p,
    sql`update ${sql.table(table)}
      set ${sql.join(assignments)}, version = ${sql.ref(`${table}.version`)} + 1, updated_at = clock_timestamp()
      from ${given(p, table, columns)}
      where ${sql.ref(`${table}.${id}`)} = given.${sql.ref(id)}
        and ${sql.ref(`${table}.account_id`)} = ${p('account_id', 'bigint')}
      returning ${list(returned)}`,
  );
}

/** One write and its events. */
function recorded(p: Param<Target>, write: RawBuilder<unknown>) {
  return build
    .with('changed', () => sql<Record<string, unknown>>`(${write})`)
    .with('recorded', () => recordEvents('changed', p))
    .selectFrom('changed');
}

/** The rows of a statement as a table named `given`. */
function given(p: Param<Rows>, table: Table, columns: Columns): RawBuilder<unknown> {
  const definitions = Object.entries({ [`${table}_id`]: 'bigint', ...columns }).map(
    ([name, type]) => sql`${sql.ref(name)} ${sql.raw(type)}`,
  );
  return sql`json_to_recordset(${p('rows', 'json')}) as given(${sql.join(definitions)})`;
}

function names(columns: Columns): RawBuilder<unknown> {
  return sql.join(Object.keys(columns).map((name) => sql.ref(name)));
}

function list(returned: Returning): RawBuilder<unknown> {
  return sql.join(returned.map((column) => sql`${column}`));
}
