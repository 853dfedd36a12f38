import { sql } from 'kysely';
import { type Database, inTransaction } from '../../src/db/database.ts';

/**
 * Keeps a copy of every row and of the next ids.
 * @returns a function that restores them, in a hundredth of the time it takes to create them again.
 */
export async function keepRecords(database: Database): Promise<() => Promise<void>> {
  await sql`create schema kept`.execute(database);
  const { rows: tables } = await sql<{ name: string; columns: string }>`
    select table_name as name, string_agg(quote_ident(column_name), ', ') as columns
    from information_schema.columns
    where table_schema = 'public' and is_generated = 'NEVER'
      and not exists (select from pg_class
        where relispartition and relname = table_name and relnamespace = 'public'::regnamespace)
    group by table_name`.execute(database);
  for (const { name } of tables)
    await sql`create table ${sql.table(`kept.${name}`)} as table ${sql.table(name)}`.execute(database);
  await sql`create table kept.next_ids as
    select format('%I', sequencename) as name, coalesce(last_value, start_value) as value, last_value is not null as used
    from pg_sequences where schemaname = 'public'`.execute(database);

  const statements = [
    // Whatever the order, the foreign keys hold again at the end.
    'set local session_replication_role = replica',
    ...tables.map(({ name }) => `delete from ${name}`),
    ...tables.map(
      ({ name, columns }) =>
        `insert into ${name} (${columns}) overriding system value select ${columns} from kept.${name}`,
    ),
    'select setval(name::regclass, value, used) from kept.next_ids',
  ].join('; ');
  return () =>
    inTransaction(database, async (transaction) => void (await sql.raw(statements).execute(transaction)));
}
