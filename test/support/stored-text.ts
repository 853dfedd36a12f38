import { sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';

/** Every row of every table as text, to find secrets stored in clear; binary columns in hex. */
export async function storedText(database: Database): Promise<string> {
  const { rows } = await sql<{ name: string }>`
    select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`.execute(database);
  const texts = await Promise.all(
    rows.map(async ({ name }) => {
      const found = await sql<{ text: string | null }>`
        select string_agg(one::text, E'\n') as text from ${sql.raw(name)} as one`.execute(database);
      return found.rows[0]?.text ?? '';
    }),
  );
  return texts.join('\n');
}
