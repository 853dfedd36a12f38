import type pg from 'pg';
import { type Database, openDatabase, requireServer } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { runningEmbedded, startEmbedded } from '../../src/embedded/server.ts';
import { beginEpoch } from '../../src/events/epoch.ts';
import { ApiError } from '../../src/http/errors.ts';
import type { Config } from '../../src/process/config.ts';
import { loadDemo } from '../../src/process/demo.ts';
import { type Command, say } from './command.ts';

export const databaseHelp = `  migrate                   bring the database schema up to date
  new-epoch                 tell the service that the database's disk was put back; see docs/operations.md
  load-demo                 load the demo account and print a client for it`;

export const databaseCommands: Record<string, Command> = {
  migrate: {
    options: [],
    prepare:
      () =>
      async (_database, { connection }) => {
        const { applied, newer } = await migrate(connection, { say });
        return { applied, ...(newer.length > 0 && { newer }) };
      },
  },
  'new-epoch': {
    options: [],
    prepare: () => (database) =>
      database.transaction().execute(async (transaction) => {
        // What the relay is about to number belongs to the epoch that it has begun with.
        await transaction.selectFrom('relay').select('singleton').forUpdate().execute();
        return { epoch: await beginEpoch(transaction) };
      }),
  },
  'load-demo': {
    options: [],
    prepare: () => async (database) => {
      try {
        return await loadDemo(database, { ifEmpty: false });
      } catch (error) {
        if (!(error instanceof ApiError) || error.errors?.[0]?.code !== 'taken') throw error;
        throw new Error(
          'the demo account is loaded already: create-client --account Demo creates another client for it',
        );
      }
    },
  },
};

/** The service's own server when it runs on the embedded default, else one started for this command. */
export async function withDatabase(
  config: Config,
  work: (database: Database, connection: pg.PoolConfig) => Promise<void>,
): Promise<void> {
  const running = config.databaseUrl ? undefined : await runningEmbedded(config.dataDir);
  const started = config.databaseUrl || running ? undefined : await startEmbedded(config.dataDir);
  const connection: pg.PoolConfig = running ??
    started?.connection ?? { connectionString: config.databaseUrl as string };
  const database = openDatabase(connection, { max: 1 });
  try {
    await requireServer(database);
    await work(database, connection);
  } finally {
    await database.destroy();
    await started?.stop();
  }
}
