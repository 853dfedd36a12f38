/** Removes, in batches, what this cell still has of an account that has left. It may be stopped and run again. */
import type pg from 'pg';
import { accountTables, belongsTo } from './account-records.ts';
import { allowWrites } from './closing.ts';
import type { Cell } from './sessions.ts';

const batch = 5_000;

/**
 * @returns how many rows were removed
 * @throws an Error of one line unless the account has left
 */
export async function removeMovedAccount({ session }: Cell, name: string): Promise<{ removed: number }> {
  const { rows } = await session.query<{ account_id: number; state: string | null }>(
    `select account_id::float8, state from account left join account_move using (account_id) where name = $1`,
    [name],
  );
  const [account] = rows;
  if (!account) throw new Error(`there is no account ${name}`);
  const { account_id, state } = account;
  if (state !== 'left') throw new Error(`account ${name} has not left: move-account moves it`);
  // Allows this session to delete webhooks, which are closed to everybody else.
  await session.query("set menus.removes_moved = 'on'");
  let removed = 0;
  for (const table of [
    'revoked_token',
    ...accountTables
      .map((one) => one.name)
      .filter((one) => one !== 'account')
      .reverse(),
  ])
    removed += await removeRows(session, table, account_id);
  await allowWrites(session, account_id);
  // In one transaction: as long as the account exists, it is marked as left.
  await session.query(`begin; delete from account where account_id = ${account_id};
    delete from account_move where account_id = ${account_id}; commit`);
  return { removed: removed + 1 };
}

async function removeRows(session: pg.Client, table: string, accountId: number): Promise<number> {
  const { rows } = await session.query<{ leaf: string }>(
    `select relid::regclass::text as leaf from pg_partition_tree($1::text::regclass) where isleaf
    union all select $1::text where not exists (select from pg_partition_tree($1::text::regclass))`,
    [table],
  );
  let removed = 0;
  for (const { leaf } of rows) {
    for (let last = batch; last === batch; removed += last) {
      const { rowCount } = await session.query(`delete from ${leaf} where ctid = any (array(
        select ctid from ${leaf} where ${belongsTo(table, accountId)} limit ${batch}))`);
      last = rowCount ?? 0;
    }
  }
  return removed;
}
