import { sql } from 'kysely';
import { firstIdOf, idsOfCell } from './cell-numbers.ts';
import type { Database } from './database.ts';

/** The cell number of this database; 0 unless one was chosen. */
export async function cellNumber(database: Database): Promise<number> {
  const { number } = await database.selectFrom('cell').select('number').executeTakeFirstOrThrow();
  return number;
}

/**
 * Makes a database that has not assigned any id the cell of this number; does nothing if it already is.
 * @throws an Error of one line when it has assigned ids
 */
export async function chooseCell(database: Database, number: number): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await sql`lock table account in share row exclusive mode`.execute(transaction);
    const current = await cellNumber(transaction);
    if (current === number) return;
    if (await hasAccounts(transaction))
      throw new Error(
        `this is cell ${current}, and has given ids: make an empty database for cell ${number}, and move accounts there`,
      );
    await transaction.updateTable('cell').set({ number }).execute();
    const first = firstIdOf(number);
    for (const sequence of await identitySequences(transaction)) {
      const bounds = `minvalue ${first + 1n} maxvalue ${first + idsOfCell - 1n} start ${first + 1n} restart`;
      await sql.raw(`alter sequence ${sequence} ${bounds}`).execute(transaction);
    }
  });
}

/** Whether there is, or has been, an account: all ids belong to accounts. */
async function hasAccounts(transaction: Database): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select is_called as found from account_account_id_seq`.execute(transaction);
  return rows[0]?.found === true;
}

async function identitySequences(transaction: Database): Promise<string[]> {
  const { rows } = await sql<{ sequence: string }>`
    select pg_get_serial_sequence(quote_ident(table_name), column_name) as sequence
    from information_schema.columns where table_schema = current_schema() and is_identity = 'YES'`.execute(
    transaction,
  );
  return rows.map(({ sequence }) => sequence);
}

/** In SQL: whether an account is in its cell and is not moving, so that background work may be done for it. */
export function isStaying(accountId: string) {
  return sql<boolean>`not exists (
    select from account_move where account_move.account_id = ${sql.ref(accountId)})`;
}

/** In SQL: whether an account has left this cell, or has not arrived yet. */
export function isAway(accountId: string) {
  return sql<boolean>`exists (
    select from account_move where account_move.account_id = ${sql.ref(accountId)} and state <> 'leaving')`;
}
