import { readdir, readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { type Migration, type MigrationProvider, Migrator } from 'kysely/migration';
import { type Database, patient } from './database.ts';

const directory = new URL('./migrations/', import.meta.url);

/**
 * Brings the schema up to date; does nothing when it is. Safe to run from many processes at once.
 * @returns the names of the migrations that were applied now.
 */
export async function migrate(database: Database): Promise<string[]> {
  const migrator = new Migrator({ db: patient(database), provider: sqlFiles });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error) {
    const failed = results.find((result) => result.status === 'Error');
    throw new Error(`migration ${failed?.migrationName ?? ''} failed: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return results.map((result) => result.migrationName);
}

const sqlFiles: MigrationProvider = {
  async getMigrations() {
    const files = (await readdir(directory)).filter((file) => file.endsWith('.sql')).sort();
    const migrations = files.map(async (file): Promise<[string, Migration]> => {
      const text = await readFile(new URL(file, directory), 'utf8');
      return [file.replace(/\.sql$/, ''), { up: async (db) => void (await sql.raw(text).execute(db)) }];
    });
    return Object.fromEntries(await Promise.all(migrations));
  },
};
