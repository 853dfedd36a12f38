import { createHash, createPublicKey, generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Seal } from '../db/seal.ts';
import { build, type Param, statement } from '../db/statement.ts';

export interface SigningKeys {
  /** The newest key, which signs; PEM. */
  readonly current: { kid: string; privateKey: string };
  /** The public key in PEM, also when another process has created it since. */
  publicKey(kid: string | undefined): Promise<string | undefined>;
  /** The public keys as a JWK Set (RFC 7517). */
  jwks(): { keys: JsonWebKey[] };
}

// An unknown kid may be a forgery, so it costs at most one look-up in this time.
const reloadMs = 5_000;

/**
 * Loads the ES256 keys that every process shares; creates the first one.
 * @throws when the stored keys were sealed with another ENCRYPTION_KEY.
 */
export async function loadSigningKeys(database: Database, seal: Seal): Promise<SigningKeys> {
  let keys = await readKeys(database);
  if (keys.length === 0) {
    await createFirstKey(database, seal);
    keys = await readKeys(database);
  }
  let readAt = performance.now();
  const newest = keys[0];
  if (!newest) throw new Error('no signing key could be created');

  return {
    current: { kid: newest.kid, privateKey: openPrivateKey(seal, newest.sealed_private_key) },
    async publicKey(kid) {
      if (!keys.some((key) => key.kid === kid) && performance.now() - readAt > reloadMs) {
        readAt = performance.now();
        keys = await readKeys(database);
      }
      return keys.find((key) => key.kid === kid)?.pem;
    },
    jwks: () => ({ keys: keys.map((key) => key.jwk) }),
  };
}

async function createFirstKey(database: Database, seal: Seal): Promise<void> {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = publicKey.export({ format: 'jwk' });
  // RFC 7638: the thumbprint is the hash of the required members in lexical order.
  const { crv, kty, x, y } = jwk;
  const kid = createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  await database.transaction().execute(async (transaction) => {
    // Of processes that start together, one creates it; else each would refuse the tokens of the others at first.
    await lockKeys(transaction, {});
    await insertFirst(transaction, {
      kid,
      public_jwk: JSON.stringify({ ...jwk, kid, alg: 'ES256', use: 'sig' }),
      sealed_private_key: seal.close(pem),
    });
  });
}

const lockKeys = statement(
  'accounts.signingKeys.lock',
  () => sql<object>`lock table signing_key in share row exclusive mode`,
);

const insertFirst = statement(
  'accounts.signingKeys.insertFirst',
  (p: Param<{ kid: string; public_jwk: string; sealed_private_key: Buffer }>) => sql<object>`
    insert into signing_key (kid, public_jwk, sealed_private_key)
    select ${p('kid', 'text')}, ${p('public_jwk', 'json')}, ${p('sealed_private_key', 'bytea')}
    where not exists (select from signing_key)`,
);

async function readKeys(database: Database) {
  const rows = await selectKeys(database, {});
  return rows.map(({ kid, public_jwk, sealed_private_key }) => {
    const jwk = JSON.parse(public_jwk) as JsonWebKey;
    const pem = createPublicKey({ key: jwk, format: 'jwk' })
      .export({ format: 'pem', type: 'spki' })
      .toString();
    return { kid, jwk, pem, sealed_private_key };
  });
}

const selectKeys = statement('accounts.signingKeys.select', () =>
  build
    .selectFrom('signing_key')
    .select(['kid', 'public_jwk', 'sealed_private_key'])
    .orderBy('created_at', 'desc')
    .orderBy('kid'),
);

function openPrivateKey(seal: Seal, sealed: Buffer): string {
  try {
    return seal.open(sealed);
  } catch {
    throw new Error(
      'ENCRYPTION_KEY is not the key that this database was set up with; if unset, it is read from encryption.key in DATA_DIR',
    );
  }
}
