import { type Command, readCell, say } from './command.ts';

export const databaseHelp = `  migrate [--cell N]        bring the database schema up to date; make an empty database cell N, 0 to 1023
  new-epoch                 tell the service that the database's disk was put back; see docs/operations.md
  load-demo                 load the demo account and print a client for it`;

export const databaseCommands: Record<string, Command> = {
  migrate: {
    options: ['cell'],
    prepare({ cell }) {
      const number = cell === undefined ? undefined : readCell(cell);
      return async (database, { connection }) => {
        const { migrate } = await import('../../src/db/migrate.ts');
        const { applied, newer } = await migrate(connection, { say });
        if (number !== undefined) {
          const { chooseCell } = await import('../../src/db/cell.ts');
          await chooseCell(database, number);
        }
        return { applied, ...(newer.length > 0 && { newer }), ...(number !== undefined && { cell: number }) };
      };
    },
  },
  'new-epoch': {
    options: [],
    prepare: () => async (database) => {
      const { beginEpoch } = await import('../../src/events/epoch.ts');
      return database.transaction().execute(async (transaction) => {
        // A relay that is numbering events finishes in the epoch that it began with.
        await transaction.selectFrom('relay').select('singleton').forUpdate().execute();
        return { epoch: await beginEpoch(transaction) };
      });
    },
  },
  'load-demo': {
    options: [],
    prepare: () => async (database) => {
      const { loadDemo } = await import('../../src/process/demo.ts');
      const { ApiError } = await import('../../src/http/errors.ts');
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
