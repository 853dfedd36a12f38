import type pg from 'pg';
import { type Database, openDatabase, requireServer } from '../../src/db/database.ts';
import { migrate, requireMigrated } from '../../src/db/migrate.ts';
import { createSeal } from '../../src/db/seal.ts';
import { runningEmbedded, startEmbedded } from '../../src/embedded/server.ts';
import { type Config, readConfig } from '../../src/process/config.ts';
import { keptEncryptionKeys } from '../../src/process/encryption-key.ts';
import { say, type Work } from './command.ts';

/**
 * Does the work of a command on the database of the service.
 * @param migrates whether it first brings the schema up to date, as the service does when it starts
 * @returns what the command prints
 */
export function run(work: Work, { migrates }: { migrates: boolean }): Promise<unknown> {
  const config = readConfig(process.env);
  const openSeal = () => createSeal(...(config.encryptionKeys ?? keptEncryptionKeys(config.dataDir)));
  return withDatabase(config, async (database, connection) => {
    if (migrates) await (config.migrate === 'on' ? migrate : requireMigrated)(connection, { say });
    return work(database, { config, connection, openSeal });
  });
}

/** The embedded server: that of the running service, or else one started for this command. */
async function withDatabase<Result>(
  config: Config,
  use: (database: Database, connection: pg.PoolConfig) => Promise<Result>,
): Promise<Result> {
  const running = config.databaseUrl ? undefined : await runningEmbedded(config.dataDir);
  const started = config.databaseUrl || running ? undefined : await startEmbedded(config.dataDir);
  if (started?.isNew) say(`DATA_DIR ${config.dataDir} had no database, so this is a new one`);
  const connection: pg.PoolConfig = running ??
    started?.connection ?? { connectionString: config.databaseUrl as string };
  const database = openDatabase(connection, { max: 1 });
  try {
    await requireServer(database);
    return await use(database, connection);
  } finally {
    await database.destroy();
    await started?.stop();
  }
}
