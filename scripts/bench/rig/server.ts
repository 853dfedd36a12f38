import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { sql } from 'kysely';
import { type Database, openDatabase } from '../../../src/db/database.ts';
import { migrate } from '../../../src/db/migrate.ts';
import { defaultDataDir, type EmbeddedPostgres, startEmbedded } from '../../../src/embedded/server.ts';
import { type BenchData, seed } from './data.ts';

/** A seeded database, on disk and with the settings that the service itself would use. */
export interface BenchServer {
  connection: EmbeddedPostgres['connection'];
  /** Of PostgreSQL, such as "18.4". */
  version: string;
  data: BenchData;
  /** A directory for logs, removed with the server. */
  directory: string;
  encryptionKey: Buffer;
  stop(): Promise<void>;
}

/** Beside the default data directory: the system's temporary directory may be in memory, where fsync is free. */
export async function startServer(): Promise<BenchServer> {
  const directory = `${defaultDataDir()}-bench-${process.pid}`;
  const postgres = await startEmbedded(directory);
  const stop = async () => {
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  };
  const database = openDatabase(
    { ...postgres.connection, statement_timeout: 0, query_timeout: 0 },
    { max: 1 },
  );
  try {
    await migrate(postgres.connection);
    const data = await seed(database);
    return {
      connection: postgres.connection,
      version: await versionOf(database),
      data,
      directory,
      encryptionKey: randomBytes(32),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    await database.destroy();
  }
}

async function versionOf(database: Database): Promise<string> {
  const { rows } = await sql<{
    version: string;
  }>`select current_setting('server_version') as version`.execute(database);
  return rows[0]?.version ?? 'unknown';
}
