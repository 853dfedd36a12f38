import { sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';

/** A digest of everything an account has, by table, without the tables in which it has nothing. */
export async function checksumOf(database: Database, account_id: number): Promise<Record<string, string>> {
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_schema = 'public' and table_type = 'BASE TABLE' and column_name = 'account_id'
    order by table_name`.execute(database);
  const sums: Record<string, string> = {};
  for (const { name } of tables) {
    const { rows } = await sql<{ sum: string | null }>`
      select md5(string_agg(record::text, ',' order by record::text)) as sum from ${sql.table(name)} as record
      where account_id = ${account_id}`.execute(database);
    if (rows[0]?.sum) sums[name] = rows[0].sum;
  }
  return sums;
}
