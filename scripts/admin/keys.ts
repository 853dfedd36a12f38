import { requireKeys } from '../../src/accounts/require-keys.ts';
import { revokeSigningKeys, rotateSigningKey } from '../../src/accounts/rotate-signing-key.ts';
import { type Rekeyed, rekey } from '../../src/process/rekey.ts';
import { type Command, say } from './command.ts';

export const keyHelp = `  rotate-signing-key        create a key that signs the tokens from ten minutes on; tokens of the one before stay
                            valid. With --revoke it signs at once, and every token issued so far is refused
  rekey                     encrypt with the first key of ENCRYPTION_KEY what another one has encrypted; may be
                            stopped and run again. Tells its progress on standard error`;

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

/** The first and then at most one line a second; the whole is printed at the end. */
function tellProgress(): (kind: keyof Rekeyed, done: number) => void {
  let toldAt = Number.NEGATIVE_INFINITY;
  return (kind, done) => {
    if (performance.now() - toldAt < 1_000) return;
    toldAt = performance.now();
    say(`rekey: ${kind.replaceAll('_', ' ')}, ${done} done`);
  };
}
