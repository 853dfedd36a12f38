import type { Claims } from '../http/authenticate.ts';
import type { SigningKeys } from './signing-keys.ts';

/** The claims of a token whose signature was found right; `exp` in Unix seconds. */
export type VerifiedClaims = Claims & { exp: number };

/** Tokens whose signatures need not be checked again, by the `Authorization` header that they came in. */
export interface VerifiedTokens {
  /**
   * The claims of a header that was verified before, unless the token has expired or its key is gone since.
   * @throws while the database is away and the keys cannot be known.
   */
  find(header: string | undefined): Promise<VerifiedClaims | undefined>;
  /** @param kid names the key that signed it. */
  add(header: string, kid: unknown, claims: VerifiedClaims): void;
}

/**
 * Remembers verified tokens; the least recently used make room. What can change during the life of a token is checked
 * at each use: here the time and the keys, and by the reader of the claims the rights of the client.
 */
export function createVerifiedTokens(
  keys: Pick<SigningKeys, 'publicKey'>,
  { max = 10_000 }: { max?: number } = {},
): VerifiedTokens {
  const known = new Map<string, { kid: unknown; claims: VerifiedClaims }>();

  return {
    async find(header = '') {
      const found = known.get(header);
      if (!found) return undefined;
      known.delete(header);
      if (Date.now() >= found.claims.exp * 1_000) return undefined;
      known.set(header, found);
      if (await keys.publicKey(found.kid)) return found.claims;
      known.delete(header);
      return undefined;
    },
    add(header, kid, claims) {
      known.set(header, { kid, claims });
      const [oldest] = known.keys();
      if (known.size > max && oldest !== undefined) known.delete(oldest);
    },
  };
}
