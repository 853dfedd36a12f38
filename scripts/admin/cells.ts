import type { Config } from '../../src/process/config.ts';
import { type Command, say, UsageError } from './command.ts';

export const cellHelp = `  move-account --account NAME [--back]
                            move an account with all its records to the cell of TARGET_DATABASE_URL and
                            TARGET_ENCRYPTION_KEY, or finish that; its writes get 503 meanwhile. With --back, take
                            back a move that was interrupted. See docs/operations.md
  remove-moved-account --account NAME
                            remove what is left of an account that has moved to another cell`;

export const cellCommands: Record<string, Command> = {
  'move-account': {
    options: ['account', 'back'],
    prepare({ account, back }) {
      const name = requireAccount('move-account', account);
      return async (_database, { config, connection, openSeal }) => {
        const { moveAccount, takeBack } = await import('../../src/cells/move-account.ts');
        const { withCells } = await import('../../src/cells/sessions.ts');
        const work = back ? takeBack : moveAccount;
        const target = await readTarget(process.env);
        return withCells([{ connection, seal: openSeal() }, target], (source, target) =>
          work({ source, target, name, retentionDays: config.eventRetentionDays, say }),
        );
      };
    },
  },
  'remove-moved-account': {
    options: ['account'],
    prepare({ account }) {
      const name = requireAccount('remove-moved-account', account);
      return async (_database, { connection, openSeal }) => {
        const { removeMovedAccount } = await import('../../src/cells/remove-moved-account.ts');
        const { withCells } = await import('../../src/cells/sessions.ts');
        return withCells([{ connection, seal: openSeal() }], (cell) => removeMovedAccount(cell, name));
      };
    },
  },
};

function requireAccount(command: string, account: string | undefined): string {
  const name = account?.trim();
  if (!name) throw new UsageError(`${command} needs --account NAME`);
  return name;
}

/** The other cell, from the environment. @throws an Error of one line */
async function readTarget({ TARGET_DATABASE_URL = '', TARGET_ENCRYPTION_KEY = '' }: NodeJS.ProcessEnv) {
  if (!TARGET_DATABASE_URL || !TARGET_ENCRYPTION_KEY)
    throw new Error('set TARGET_DATABASE_URL and TARGET_ENCRYPTION_KEY to those of the cell to move to');
  const { createSeal } = await import('../../src/db/seal.ts');
  const { ConfigError, readConfig } = await import('../../src/process/config.ts');
  try {
    const { databaseUrl, encryptionKeys } = readConfig({
      DATABASE_URL: TARGET_DATABASE_URL,
      ENCRYPTION_KEY: TARGET_ENCRYPTION_KEY,
    }) as Required<Config>;
    return { connection: { connectionString: databaseUrl }, seal: createSeal(...encryptionKeys) };
  } catch (error) {
    throw error instanceof ConfigError ? new Error(`TARGET_${error.message}`) : error;
  }
}
