import type { Claims } from '../http/authenticate.ts';
import type { SigningKeys } from './signing-keys.ts';

/** The claims of a token whose signature was found right; `exp` in Unix seconds. */
export type VerifiedClaims = Claims & { exp: number };

/** Tokens whose signatures need not be checked again, by the `Authorization` header that they came in. */
export interface VerifiedTokens {
  /** What `find` resolves to, if that needs no look at the database. */
  known(header: string | undefined): VerifiedClaims | undefined;
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
  keys: Pick<SigningKeys, 'publicKey' | 'isKnown'>,
  { max = 10_000 }: { max?: number } = {},
): VerifiedTokens {
  const verified = new Map<string, { kid: unknown; claims: VerifiedClaims; used: number }>();
  let uses = 0;

  function unexpired(header: string) {
    const found = verified.get(header);
    if (!found) return undefined;
    if (Date.now() >= found.claims.exp * 1_000) {
      verified.delete(header);
      return undefined;
    }
    found.used = ++uses;
    return found;
  }

  // A tenth at once, since finding them takes a look at all.
  function makeRoom(): void {
    const byUse = [...verified].sort(([, one], [, other]) => one.used - other.used);
    for (const [header] of byUse.slice(0, Math.ceil(max / 10))) verified.delete(header);
  }

  return {
    known(header = '') {
      const found = unexpired(header);
      return found && keys.isKnown(found.kid) ? found.claims : undefined;
    },
    async find(header = '') {
      const found = unexpired(header);
      if (!found) return undefined;
      if (await keys.publicKey(found.kid)) return found.claims;
      verified.delete(header);
      return undefined;
    },
    add(header, kid, claims) {
      verified.set(header, { kid, claims, used: ++uses });
      if (verified.size > max) makeRoom();
    },
  };
}
