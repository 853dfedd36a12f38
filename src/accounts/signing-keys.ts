/**
 * The ES256 keys that all processes share. A key is published for a while before it signs, so that caches of the JWK
 * Set have it by then, and stays published until every token that it has signed has expired. Each process caches the
 * keys briefly. A token with an unknown key may have been signed with a new key or be invalid, so it is checked
 * against keys that were read after it arrived. However many such tokens arrive, they share one query every half
 * second.
 */
import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Seal } from '../db/seal.ts';
import { statement } from '../db/statement.ts';
import { requireKeys } from './require-keys.ts';
import { createFirstKey } from './rotate-signing-key.ts';

export interface SigningKeys {
  /** The key that signs now; PEM. */
  signing(): Promise<{ kid: string; privateKey: string }>;
  /** The public key in PEM, also when another process has created it since. @throws while the database is away. */
  publicKey(kid: unknown): Promise<string | undefined>;
  /** Whether there is such a key for certain; false also if that has to be read first. */
  isKnown(kid: unknown): boolean;
  /** The public keys as a JWK Set (RFC 7517). */
  jwks(): Promise<{ keys: JsonWebKey[] }>;
}

// A key that was removed is refused this soon, as a client is that was disabled.
const trustMs = 1_000;
const spacingMs = 500;

/**
 * Loads the keys; creates the first one.
 * @throws an Error of one line when something in the database is sealed with a key that ENCRYPTION_KEY lacks.
 */
export async function loadSigningKeys(database: Database, seal: Seal): Promise<SigningKeys> {
  await requireKeys(database, seal);
  let known = await readKeys(database, seal);
  if (known.keys.length === 0) {
    await createFirstKey(database, seal);
    known = await readKeys(database, seal);
  }
  let reading: Promise<void> | undefined;
  let begun = known.at;

  async function read(): Promise<void> {
    await sleep(Math.max(0, begun + spacingMs - performance.now()));
    begun = performance.now();
    known = await readKeys(database, seal, known.keys);
  }

  /** The keys as they were at that time or later. */
  async function knownSince(moment: number): Promise<SigningKey[]> {
    while (known.at < moment) {
      reading ??= read().finally(() => {
        reading = undefined;
      });
      await reading;
    }
    return known.keys;
  }
  const recent = () => knownSince(performance.now() - trustMs);

  return {
    async signing() {
      const key = (await recent()).find(({ signs }) => signs);
      if (!key) throw new Error('there is no signing key');
      key.privateKey ??= seal.open(key.sealed);
      return { kid: key.kid, privateKey: key.privateKey };
    },
    async publicKey(kid) {
      if (!isKid(kid)) return undefined;
      const asked = performance.now();
      const found = (await recent()).find((key) => key.kid === kid);
      if (found) return found.pem;
      return (await knownSince(asked)).find((key) => key.kid === kid)?.pem;
    },
    isKnown: (kid) => known.at >= performance.now() - trustMs && known.keys.some((key) => key.kid === kid),
    async jwks() {
      const keys = await recent().catch(() => known.keys);
      return { keys: keys.map(({ jwk }) => jwk) };
    },
  };
}

interface SigningKey {
  kid: string;
  jwk: JsonWebKey;
  pem: string;
  sealed: Buffer;
  /** Opened once it is needed. */
  privateKey?: string;
  signs: boolean;
}

// A thumbprint by SHA-256 in base64url (RFC 7638).
function isKid(kid: unknown): boolean {
  return typeof kid === 'string' && /^[\w-]{43}$/.test(kid);
}

async function readKeys(
  database: Database,
  seal: Seal,
  before: SigningKey[] = [],
): Promise<{ at: number; keys: SigningKey[] }> {
  const at = performance.now();
  const rows = await selectKeys(database, {});
  for (const { names_keys } of rows) seal.isNaming = names_keys;
  const keys = rows.map(({ kid, public_jwk, sealed_private_key: sealed, signs }) => {
    const same = before.find((key) => key.kid === kid);
    return same ? { ...same, sealed, signs } : { ...parsed(public_jwk), kid, sealed, signs };
  });
  return { at, keys };
}

function parsed(text: string): Pick<SigningKey, 'jwk' | 'pem'> {
  const jwk = JSON.parse(text) as JsonWebKey;
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  return { jwk, pem: key.export({ format: 'pem', type: 'spki' }).toString() };
}

interface StoredKey {
  kid: string;
  public_jwk: string;
  sealed_private_key: Buffer;
  signs: boolean;
  names_keys: boolean;
}

// The newest of those whose time has come signs.
const selectKeys = statement(
  'accounts.signingKeys.select',
  () => sql<StoredKey>`
    select kid, public_jwk, sealed_private_key,
      kid = first_value(kid) over (
        order by coalesce(signs_from, created_at) > now(), coalesce(signs_from, created_at) desc, kid
      ) as signs,
      (select names_keys_from <= now() from sealing) as names_keys
    from signing_key
    order by created_at desc, kid`,
);
