import { requireKeys } from '../../src/accounts/require-keys.ts';
import { revokeSigningKeys, rotateSigningKey } from '../../src/accounts/rotate-signing-key.ts';
import { type Rekeyed, rekey } from '../../src/process/rekey.ts';
import { type Command, say } from './command.ts';

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
        const seal = openSeal();
        await requireKeys(database, seal);
        return revoke ? revokeSigningKeys(database, seal) : rotateSigningKey(database, seal);
      },
  },
  rekey: {
    options: [],
    prepare:
      () =>
      async (database, { openSeal }) => {
        const seal = openSeal();
        await requireKeys(database, seal);
        return { key: seal.keyIds[0], rekeyed: await rekey(database, seal, tellProgress()) };
      },
  },
};

/** Prints the first report, then at most one a second; the command prints the totals at its end. */
function tellProgress(): (kind: keyof Rekeyed, done: number) => void {
  let toldAt = Number.NEGATIVE_INFINITY;
  return (kind, done) => {
    if (performance.now() - toldAt < 1_000) return;
    toldAt = performance.now();
    say(`rekey: ${kind.replaceAll('_', ' ')}, ${done} done`);
  };
}
