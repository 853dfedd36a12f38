/**
 * Inserts a record into a menu, which may have only a limited number of its kind.
 *
 * Each write to a menu's content ends by locking the menu and raising its content_version by at least one for each new
 * record. The statement counts the records and reads that version when it begins, at the same moment. From the version
 * that it finds once it has locked the menu, it knows how many records can have been added since, without having held a
 * lock in between. It fails only if that might be too many. The record is then created in a transaction that locks the
 * menu before it counts: by then all earlier writers have committed, and no other can add one.
 */
import { type RawBuilder, sql } from 'kysely';
import { type Database, inTransaction } from '../db/database.ts';
import { build, type Param, type Statement, statement } from '../db/statement.ts';
import { parameterError } from '../http/errors.ts';
import { onConstraint } from './constraints.ts';
import { type Created, type CreateSpec, creation, insertion, shownOfCreated } from './create.ts';
import type { MenuKey } from './menu-reach.ts';
import { changedColumns, type Written, writeOf } from './write.ts';

type InMenu = 'category' | 'item';
type Values<Key, Fields> = Key & Fields & Written;

/**
 * @param most the maximum number of the kind in one menu.
 * @returns a statement that returns no row when the caller has no such parent, and throws 422 (`too_many`) when the
 *   menu is full.
 */
export function creationInMenu<Key extends MenuKey, Fields extends { sort_order: number | null }, T>(
  spec: CreateSpec<Key, Fields, T>,
  most: number,
): Statement<Values<Key, Fields>, Created<T>> {
  const table = spec.kind.table as InMenu;
  const create = creation(spec);
  const createWithRoom = withRoom(spec, table, most);
  const count = statement(`${spec.name}.count`, (p: Param<MenuKey>) =>
    build.selectNoFrom(countIn(table, p).as('count')),
  );

  return async (database, values) => {
    // A failed statement would abort a transaction that is already open.
    const created = database.isTransaction ? undefined : await createWithRoom(database, values);
    return created ?? inTransaction(database, (transaction) => createAndCount(transaction, values));
  };

  async function createAndCount(transaction: Database, values: Values<Key, Fields>): Promise<Created<T>[]> {
    const created = await create(transaction, values);
    const [counted] = await count(transaction, values);
    if (created.length > 0 && (counted?.count ?? 0) > most) throw full(table, most);
    return created;
  }
}

/** Returns undefined, having done nothing, when there might be no room. */
function withRoom<Key extends MenuKey, Fields extends { sort_order: number | null }, T>(
  spec: CreateSpec<Key, Fields, T>,
  table: InMenu,
  most: number,
): (database: Database, values: Values<Key, Fields>) => Promise<Created<T>[] | undefined> {
  const insert = insertion(spec);
  const create = writeOf<Values<Key, Fields>, Created<T>>(`${spec.name}.withRoom`, (p) => ({
    before: sql`room as (
      select content_version, ${countIn(table, p)} as records
      from menu where menu_id = ${p('menu_id', 'bigint')} and account_id = ${p('account_id', 'bigint')})`,
    change: insert(p),
    nextContentVersion: sql`
      case when (select records - content_version from room) + content_version < ${sql.lit(most)}
      then content_version + 1 end`,
    response: changedColumns(shownOfCreated),
  }));
  const createOrExplain = onConstraint(create, spec.kind.constraints);
  return async (database, values) => {
    try {
      return await createOrExplain(database, values);
    } catch (error) {
      if (isWithoutRoom(error)) return undefined;
      throw error;
    }
  };
}

function countIn(table: InMenu, p: Param<MenuKey>): RawBuilder<number> {
  return sql`(
    select count(*) from ${sql.table(table)}
    where menu_id = ${p('menu_id', 'bigint')} and account_id = ${p('account_id', 'bigint')})`;
}

// The column is `not null`, and nothing else in the statement can set it to null.
function isWithoutRoom(error: unknown): boolean {
  const { code, column } = error as { code?: string; column?: string };
  return code === '23502' && column === 'content_version';
}

const plural = { category: 'categories', item: 'items' };

function full(table: InMenu, most: number) {
  const message = `the menu has ${most} ${plural[table]}, and may not have more`;
  return parameterError([{ field: '', code: 'too_many', message }]);
}
