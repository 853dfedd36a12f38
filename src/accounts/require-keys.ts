import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { type Seal, UnknownKey } from '../db/seal.ts';
import { statement } from '../db/statement.ts';

/**
 * Decrypts one value for each key with which something lasting in the database is encrypted. Responses stored for
 * idempotency are not checked: they last a day, and `admin rekey` encrypts them again before the others.
 * @throws an Error of one line that names what is missing.
 */
export async function requireKeys(database: Database, seal: Seal): Promise<void> {
  for (const { what, sealed } of await selectOneOfEach(database, {})) {
    try {
      seal.openBytes(sealed);
    } catch (error) {
      const { message } = error as Error;
      if (!(error instanceof UnknownKey)) throw new Error(`${what} cannot be read: ${message}`);
      throw new Error(
        `ENCRYPTION_KEY is not the key that this database was set up with: ${what} was ${message}, ` +
          `and it holds ${seal.keyIds.join(', ')}; if unset, it is read from encryption.key in DATA_DIR`,
      );
    }
  }
}

// Those without a name begin with random bytes, so each of them is there.
const selectOneOfEach = statement(
  'accounts.requireKeys',
  () => sql<{ what: string; sealed: Buffer }>`
    select distinct on (substring(sealed_private_key for 8)) 'a signing key' as what, sealed_private_key as sealed
    from signing_key
    union all
    select * from (
      select distinct on (substring(sealed_secret for 8)) 'a webhook secret', sealed_secret
      from webhook_secret
    ) as webhook`,
);
