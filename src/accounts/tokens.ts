import jwt from '@fastify/jwt';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Claims, EndedToken } from '../http/authenticate.ts';
import type { SigningKeys } from './signing-keys.ts';
import { createVerifiedTokens, type VerifiedClaims } from './verified-tokens.ts';

const issuer = 'menu-management-service';
const audience = 'menu-management-service/api/v1';
// RFC 9068, section 2.1: keeps other tokens that the same key may sign one day from passing for access tokens.
const tokenType = 'at+jwt';

/** Seconds an access token is valid. */
export const tokenLifetime = 3600;

export interface Tokens {
  /** A signed access token: a JWT (RFC 9068) with the client as `sub` and its scopes, space-separated. */
  issue(claims: Omit<Claims, 'jti'>): Promise<string>;
  /** The claims of the request's bearer token, if it was verified before and nothing has to be looked up. */
  known(request: FastifyRequest): Claims | undefined;
  /**
   * The claims of the request's bearer token.
   * @throws EndedToken for one that has expired; otherwise when there is none that this service issued, or cannot tell.
   */
  verify(request: FastifyRequest): Promise<Claims>;
  /**
   * The claims of any text, as long as it is an access token of this service; `exp` in Unix seconds.
   * @throws when it cannot tell, while the database is away.
   */
  read(token: string): Promise<VerifiedClaims | undefined>;
}

/** Teaches the server to issue and verify tokens with the given keys. */
export async function registerTokens(app: FastifyInstance, keys: SigningKeys): Promise<Tokens> {
  const { privateKey } = await keys.signing();
  const sign = {
    algorithm: 'ES256',
    iss: issuer,
    aud: audience,
    expiresIn: tokenLifetime,
    header: { alg: 'ES256', typ: tokenType },
  } as const;
  const verify = {
    checkTyp: tokenType,
    algorithms: ['ES256' as const],
    allowedIss: issuer,
    allowedAud: audience,
    requiredClaims: ['iss', 'aud', 'exp', 'iat', 'sub', 'scope', 'jti'],
  };
  await app.register(jwt, {
    secret: {
      private: privateKey,
      public: (_request, token, done) => {
        const { kid } = (token as unknown as { header: { kid?: unknown } }).header;
        keys.publicKey(kid).then(
          (key) => void done(key ? null : new Error('unknown kid'), key),
          (error) => void done(error, undefined),
        );
      },
    },
    decode: { complete: true },
    sign,
    verify,
  });
  const verified = createVerifiedTokens(keys);
  return {
    async issue(claims) {
      const { kid, privateKey: key } = await keys.signing();
      const payload = { ...claims, client_id: claims.sub, jti: crypto.randomUUID() };
      return app.jwt.sign(payload, { ...sign, kid, key });
    },
    known: ({ headers }) => verified.known(headers.authorization),
    async verify(request) {
      const { authorization = '' } = request.headers;
      const known = await verified.find(authorization);
      if (known) return known;
      try {
        const claims = await request.jwtVerify<VerifiedClaims>();
        verified.add(authorization, kidOf(app, authorization.split(' ')[1] ?? ''), claims);
        return claims;
      } catch (error) {
        // Its signature was checked before its time.
        const { code } = error as { code?: string };
        throw code === 'FST_JWT_AUTHORIZATION_TOKEN_EXPIRED' ? new EndedToken() : error;
      }
    },
    async read(token) {
      const key = await keys.publicKey(kidOf(app, token));
      if (key === undefined) return undefined;
      try {
        return app.jwt.verify<VerifiedClaims>(token, { ...verify, key, cache: false });
      } catch {
        return undefined;
      }
    },
  };
}

function kidOf(app: FastifyInstance, token: string): unknown {
  try {
    return app.jwt.decode<{ header?: { kid?: unknown } }>(token, { complete: true })?.header?.kid;
  } catch {
    return undefined;
  }
}
