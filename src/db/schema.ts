import { readdir, readFile } from 'node:fs/promises';
import { type Kysely, sql } from 'kysely';
import type { DB } from '../../generated/database.ts';

export interface Migration {
  /** The name of its file, without '.sql'; migrations are applied in the order of their names. */
  name: string;
  /** In one transaction, unless it says otherwise. */
  inTransaction: boolean;
  /** What is sent at once. */
  statements: string[];
}

/** How the schema of a database and a set of migrations differ; at most one of the two lists is not empty. */
export interface SchemaDifference {
  /** Migrations that the database lacks, in order. */
  pending: Migration[];
  /** Names of migrations that a newer version has applied. */
  newer: string[];
}

/** The migrations of this version. */
export const ownMigrations = new URL('./migrations/', import.meta.url);

/**
 * Compares the migrations of a directory with those that a database has, if it has any.
 * @throws an Error of one line unless one of the two continues the other.
 */
export async function compareSchema(database: Kysely<DB>, directory: URL): Promise<SchemaDifference> {
  const [migrations, applied] = [await readMigrations(directory), await appliedMigrations(database)];
  const common = Math.min(migrations.length, applied.length);
  for (let at = 0; at < common; at += 1) {
    const [own, found] = [migrations[at]?.name, applied[at]];
    if (own === found) continue;
    throw new Error(
      `the database has migration ${found} where this version has ${own}: a new one comes after all that are applied`,
    );
  }
  return { pending: migrations.slice(common), newer: applied.slice(common) };
}

/** Records that a migration is applied. */
export async function recordMigration(database: Kysely<DB>, name: string): Promise<void> {
  const timestamp = new Date().toISOString();
  await sql`insert into kysely_migration (name, timestamp) values (${name}, ${timestamp})`.execute(database);
}

/** Creates what recordMigration writes to; named and shaped by the migrator that first did this work. */
export async function createMigrationTable(database: Kysely<DB>): Promise<void> {
  await sql`
    create table if not exists kysely_migration (
      name varchar(255) not null primary key,
      timestamp varchar(255) not null
    )`.execute(database);
}

async function appliedMigrations(database: Kysely<DB>): Promise<string[]> {
  const { rows: found } = await sql<{ exists: boolean }>`
    select to_regclass('kysely_migration') is not null as exists`.execute(database);
  if (!found[0]?.exists) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(database);
  return rows.map(({ name }) => name).sort();
}

async function readMigrations(directory: URL): Promise<Migration[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.sql')).sort();
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(new URL(file, directory), 'utf8');
      const inTransaction = !text.startsWith('-- no transaction\n');
      // Statements that are sent together are a transaction, even if nobody begins one.
      const statements = inTransaction ? [text] : text.split(/(?<=;)[ \t]*\n(?:[ \t]*\n)+/);
      return { name: file.replace(/\.sql$/, ''), inTransaction, statements };
    }),
  );
}
