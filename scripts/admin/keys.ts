import type { Database } from '../../src/db/database.ts';
import type { Seal } from '../../src/db/seal.ts';
import type { Rekeyed } from '../../src/process/rekey.ts';
import { type Command, type Context, say } from './command.ts';

export const keyHelp = `  rotate-signing-key        create a key that signs tokens in ten minutes' time; existing tokens stay valid. With
                            --revoke it signs at once, and all existing tokens are refused
  rekey                     encrypt everything again that is not encrypted with the first key of ENCRYPTION_KEY;
                            may be stopped and run again. Reports its progress on standard error`;

export const keyCommands: Record<string, Command> = {
  'rotate-signing-key': {
    options: ['revoke'],
    prepare:
      ({ revoke }) =>
      async (database, { openSeal }) => {
        const seal = await readableSeal(database, openSeal);
        const { revokeSigningKeys, rotateSigningKey } = await import(
          '../../src/accounts/rotate-signing-key.ts'
        );
        return revoke ? revokeSigningKeys(database, seal) : rotateSigningKey(database, seal);
      },
  },
  rekey: {
    options: [],
    prepare:
      () =>
      async (database, { openSeal }) => {
        const seal = await readableSeal(database, openSeal);
        const { rekey } = await import('../../src/process/rekey.ts');
        return { key: seal.keyIds[0], rekeyed: await rekey(database, seal, tellProgress()) };
      },
  },
};

/** @throws when the database has a value that no key of the seal can decrypt */
async function readableSeal(database: Database, openSeal: Context['openSeal']): Promise<Seal> {
  const { requireKeys } = await import('../../src/accounts/require-keys.ts');
  const seal = openSeal();
  await requireKeys(database, seal);
  return seal;
}

/** Prints the first report, then at most one a second; the command prints the totals at its end. */
function tellProgress(): (kind: keyof Rekeyed, done: number) => void {
  let toldAt = Number.NEGATIVE_INFINITY;
  return (kind, done) => {
    if (performance.now() - toldAt < 1_000) return;
    toldAt = performance.now();
    say(`rekey: ${kind.replaceAll('_', ' ')}, ${done} done`);
  };
}
