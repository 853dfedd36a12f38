import jwt from '@fastify/jwt';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Claims } from '../http/authenticate.ts';
import type { SigningKeys } from './signing-keys.ts';

const issuer = 'menu-management-service';
const audience = 'menu-management-service/api/v1';
// RFC 9068, section 2.1: keeps other tokens that the same key may sign one day from passing for access tokens.
const tokenType = 'at+jwt';

/** Seconds an access token is valid. */
export const tokenLifetime = 3600;

export interface Tokens {
  /** A signed access token: a JWT (RFC 9068) with the client as `sub` and its scopes, space-separated. */
  issue(claims: Claims): string;
  /** The claims of the request's bearer token. @throws when there is none that this service issued. */
  verify(request: FastifyRequest): Promise<Claims>;
}

/** Teaches the server to issue and verify tokens with the given keys. */
export async function registerTokens(app: FastifyInstance, keys: SigningKeys): Promise<Tokens> {
  await app.register(jwt, {
    secret: {
      private: keys.current.privateKey,
      public: (_request, token, done) => {
        const { kid } = (token as unknown as { header: { kid?: string } }).header;
        keys.publicKey(kid).then(
          (key) => void done(key ? null : new Error('unknown kid'), key),
          (error) => void done(error, undefined),
        );
      },
    },
    decode: { complete: true },
    sign: {
      algorithm: 'ES256',
      iss: issuer,
      aud: audience,
      expiresIn: tokenLifetime,
      kid: keys.current.kid,
      header: { alg: 'ES256', typ: tokenType },
    },
    verify: {
      checkTyp: tokenType,
      algorithms: ['ES256'],
      allowedIss: issuer,
      allowedAud: audience,
      requiredClaims: ['iss', 'aud', 'exp', 'iat', 'sub', 'scope'],
      cache: 10_000,
      cacheTTL: 60_000,
    },
  });
  return {
    issue: (claims) => app.jwt.sign({ ...claims, client_id: claims.sub, jti: crypto.randomUUID() }),
    verify: (request) => request.jwtVerify<Claims>(),
  };
}
