import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { migrate } from '../../src/db/migrate.ts';
import { startScratchPostgres } from '../../test/support/postgres.ts';
import { tool } from './tool.ts';

/** Kysely's row types, read from a database that the migrations have just made. */
export async function databaseTypes(scratch: string): Promise<string> {
  const server = await startScratchPostgres();
  try {
    await migrate(server.connection);
    const { host, port, user, database: name } = server.connection;
    const output = join(scratch, 'database.ts');
    await tool('kysely-codegen', [
      '--dialect',
      'postgres',
      '--url',
      `postgres://${user}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`,
      '--out-file',
      output,
      '--exclude-pattern',
      'public.kysely_*',
      '--numeric-parser',
      'number',
      '--type-mapping',
      // int8 and numeric are parsed as numbers, JSON is left as text (src/db/database.ts).
      '{"int8":"number","json":"string","jsonb":"string","xid8":"string"}',
    ]);
    return await readFile(output, 'utf8');
  } finally {
    await server.stop();
  }
}
