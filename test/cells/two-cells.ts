import { sql } from 'kysely';
import type { Test } from 'tap';
import { launch, type Program } from '../../scripts/launch.ts';
import { chooseCell } from '../../src/db/cell.ts';
import { openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { blocksOf } from '../docs/blocks.ts';
import { eventually } from '../support/eventually.ts';
import { environmentOf } from '../support/process.ts';
import { makeTree } from '../support/records.ts';
import {
  cloneDatabase,
  emptyDatabase,
  encryptionKey,
  startTestService,
  type TestService,
} from '../support/service.ts';

/** What docs/operations.md shows for a cell that has what is left of an account. */
export const [markAsLeft = ''] = blocksOf('docs/operations.md').flatMap(
  ({ text }) => /^psql .* -c "(insert into account_move .+)"$/.exec(text)?.[1] ?? [],
);

/** Of the second cell. */
export const otherKey = Buffer.alloc(32, 'other');

export const idsOfCell = 2 ** 43;

// For all files that this process runs; it goes with its server.
const cellThree = emptyDatabase({ teardown: () => {} }).then(async (connection) => {
  await migrate(connection);
  const database = openDatabase(connection, { max: 1 });
  await chooseCell(database, 3);
  await database.destroy();
  return { template: connection.database as string };
});

export interface TwoCells {
  first: TestService;
  second: TestService;
  /** Of the command that moves from the first to the second. */
  env: Record<string, string>;
}

const worker = { retryDelay: () => 300 };

export async function startTwoCells(t: Test): Promise<TwoCells> {
  const [first, second] = await Promise.all([startTestService(t, { worker }), startSecondCell(t)]);
  return { first, second, env: { ...environmentOf(first.connection), ...target(second, otherKey) } };
}

/** A cell to move to, which has records of its own. */
export async function startSecondCell(t: Test): Promise<TestService> {
  const connection = await cloneDatabase(t, await cellThree);
  const second = await startTestService(t, { connection, encryptionKeys: [otherKey], worker });
  await makeTree(second.api);
  return second;
}

/** The environment of the command that moves from the second to the first. */
export function backTo({ first, second }: Pick<TwoCells, 'first' | 'second'>): Record<string, string> {
  return {
    ...environmentOf(second.connection),
    ENCRYPTION_KEY: otherKey.toString('base64'),
    ...target(first, encryptionKey),
  };
}

export function target({ connection }: TestService, key: Buffer): Record<string, string> {
  return asTarget(environmentOf(connection).DATABASE_URL, key);
}

export function asTarget(url: string, key: Buffer): Record<string, string> {
  return { TARGET_DATABASE_URL: url, TARGET_ENCRYPTION_KEY: key.toString('base64') };
}

export async function startAcme(first: TestService, account = 'Acme') {
  const acme = await first.client({ account });
  const { menu, item } = await makeTree(acme);
  return { acme, path: `/menus/${menu.menu_id}/items/${item.item_id}` };
}

/** Connections that may hold a lock for as long as a test takes. */
export function unlimited(t: Test, { connection }: TestService) {
  const database = openDatabase({ ...connection, idle_in_transaction_session_timeout: 0 }, { max: 1 });
  t.teardown(() => database.destroy());
  return database;
}

/** Begins to move an account, and gives the command. */
export function move(t: Test, env: Record<string, string>, account = 'Acme', ...more: string[]): Program {
  const command = [process.execPath, 'scripts/admin.ts', 'move-account', '--account', account, ...more];
  const program = launch(command, env);
  t.teardown(() => program.stop('SIGKILL'));
  return program;
}

interface Lock {
  /** Whose table is locked. */
  target: TestService;
  table: string;
  mode?: 'access share' | 'share update exclusive' | 'access exclusive';
  program: () => Program;
}

/** Locks a table, begins a command, and unlocks when the work is done, which begins once the command waits. */
export async function whileItWaits(
  t: Test,
  { target, table, mode = 'access exclusive', program }: Lock,
  work: (program: Program) => Promise<unknown>,
): Promise<Program> {
  return unlimited(t, target)
    .transaction()
    .execute(async (transaction) => {
      await sql`lock table ${sql.table(table)} in ${sql.raw(mode)} mode`.execute(transaction);
      const begun = program();
      await eventually('it waits', async () => {
        const { rows } = await sql`select from pg_locks
          where relation = ${table}::regclass and not granted`.execute(transaction);
        return rows.length > 0;
      });
      await work(begun);
      return begun;
    });
}

/** How many rows each table has of an account, where it has any. */
export async function rowsOf({ database }: TestService, accountId: number): Promise<Record<string, number>> {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
    join pg_class on pg_class.oid = table_name::regclass and relkind in ('r', 'p') and not relispartition
    where table_schema = current_schema() and column_name = 'account_id'`.execute(database);
  const counts: Record<string, number> = {};
  for (const { name } of rows) {
    const { rows: found } = await sql<{ count: number }>`
      select count(*) from ${sql.table(name)} where account_id = ${accountId}`.execute(database);
    if (found[0]?.count) counts[name] = found[0].count;
  }
  return counts;
}
