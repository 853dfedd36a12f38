import { createHash, generateKeyPairSync } from 'node:crypto';
import { sql } from 'kysely';
import { type Database, inTransaction } from '../db/database.ts';
import type { Seal } from '../db/seal.ts';
import { build, type Param, statement } from '../db/statement.ts';

/** The JWK Set may be cached for five minutes, so a key that is to sign after ten is known everywhere by then. */
const publishedBefore = sql`interval '10 minutes'`;

// A token lives for an hour. A process of the release before signs with the key that it has read at its start, so it
// has the rest of the day to end.
const publishedAfter = sql`interval '1 day'`;

/** Creates the first key, unless there is one: of processes that start together, one creates it. */
export async function createFirstKey(database: Database, seal: Seal): Promise<void> {
  await createKey(database, seal, { delay: false, unlessYoungerDays: Number.POSITIVE_INFINITY });
}

/**
 * Creates a key that takes over the signing in ten minutes; the one before verifies for another day.
 * @returns its id, and when it begins to sign.
 */
export async function rotateSigningKey(database: Database, seal: Seal): Promise<NewKey> {
  return (await createKey(database, seal, { delay: true, unlessYoungerDays: 0 })) as NewKey;
}

/**
 * Creates a key that signs at once, and removes all others: every token issued so far is refused within seconds.
 * @returns its id, and when it began to sign.
 */
export function revokeSigningKeys(database: Database, seal: Seal): Promise<NewKey> {
  return inTransaction(database, async (transaction) => {
    await lockKeys(transaction, {});
    await removeAll(transaction, {});
    return (await createKey(transaction, seal, { delay: false, unlessYoungerDays: 0 })) as NewKey;
  });
}

/** Rotates when the newest key is that old, and removes those whose time is over. Any number of processes may. */
export async function keepSigningKeysFresh(
  database: Database,
  seal: Seal,
  maxAgeDays: number,
): Promise<void> {
  const [due] = await selectDue(database, { days: maxAgeDays });
  if (due?.is_old) await createKey(database, seal, { delay: true, unlessYoungerDays: maxAgeDays });
  await removeOver(database, {});
}

/** A new signing key: its id in the JWK Set, and the time from which it signs. */
export interface NewKey {
  kid: string;
  signs_from: Date;
}

/** @returns undefined when there is a key that is younger than that. */
async function createKey(
  database: Database,
  seal: Seal,
  { delay, unlessYoungerDays }: { delay: boolean; unlessYoungerDays: number },
): Promise<NewKey | undefined> {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = publicKey.export({ format: 'jwk' });
  // RFC 7638: the thumbprint is the hash of the required members in lexical order.
  const { crv, kty, x, y } = jwk;
  const kid = createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  return inTransaction(database, async (transaction) => {
    // Of processes that do this together, one succeeds; of several keys at once, each would sign for some.
    await lockKeys(transaction, {});
    const [form] = await selectForm(transaction, {});
    seal.isNaming = form?.names_keys ?? true;
    const [created] = await insertKey(transaction, {
      kid,
      public_jwk: JSON.stringify({ ...jwk, kid, alg: 'ES256', use: 'sig' }),
      sealed_private_key: seal.close(pem),
      delay,
      days: unlessYoungerDays,
    });
    return created;
  });
}

const lockKeys = statement(
  'accounts.signingKeys.lock',
  () => sql<object>`lock table signing_key in share row exclusive mode`,
);

interface KeyToStore {
  kid: string;
  public_jwk: string;
  sealed_private_key: Buffer;
  delay: boolean;
  days: number;
}

const insertKey = statement(
  'accounts.signingKeys.insert',
  (p: Param<KeyToStore>) => sql<NewKey>`
    insert into signing_key (kid, public_jwk, sealed_private_key, signs_from)
    select ${p('kid', 'text')}, ${p('public_jwk', 'json')}, ${p('sealed_private_key', 'bytea')},
      clock_timestamp() + case when ${p('delay', 'boolean')} then ${publishedBefore} else interval '0' end
    where not exists (select from signing_key where ${isYounger(p)})
    returning kid, signs_from`,
);

const selectForm = statement('accounts.signingKeys.form', () =>
  build.selectFrom('sealing').select(sql<boolean>`names_keys_from <= now()`.as('names_keys')),
);

const selectDue = statement('accounts.signingKeys.due', (p: Param<{ days: number }>) =>
  build.selectNoFrom(sql<boolean>`not exists (select from signing_key where ${isYounger(p)})`.as('is_old')),
);

// Infinitely many days make every key young.
function isYounger(p: Param<{ days: number }>) {
  return sql<boolean>`extract(epoch from now() - created_at) < ${p('days', 'float8')} * 86400`;
}

const removeAll = statement('accounts.signingKeys.removeAll', () => build.deleteFrom('signing_key'));

const removeOver = statement(
  'accounts.signingKeys.removeOver',
  () => sql<object>`
    delete from signing_key as old
    where exists (
      select from signing_key as next
      where coalesce(next.signs_from, next.created_at) > coalesce(old.signs_from, old.created_at)
        and coalesce(next.signs_from, next.created_at) < now() - ${publishedAfter}
    )`,
);
