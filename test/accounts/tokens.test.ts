import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
} from 'node:crypto';
import { createRemoteJWKSet, type JWTPayload, jwtVerify, SignJWT, UnsecuredJWT } from 'jose';
import t from 'tap';
import { createSeal } from '../../src/db/seal.ts';
import { type ApiResponse, send } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { encryptionKey, startTestService, type TestService } from '../support/service.ts';

// Tokens are read and forged with jose, a JWT library that the service does not use.

const issuer = 'menu-management-service';
const audience = 'menu-management-service/api/v1';

t.test('a token is a JWT access token that anybody can verify with the published keys', async (t) => {
  const { url, api } = await startTestService(t);
  const keys = createRemoteJWKSet(new URL(`${url}/.well-known/jwks.json`));
  const { payload } = await jwtVerify(await api.token(), keys, {
    issuer,
    audience,
    algorithms: ['ES256'],
    typ: 'at+jwt',
    requiredClaims: ['sub', 'client_id', 'scope', 'iat', 'exp', 'jti'],
  });
  t.equal(payload.sub, api.credentials.client_id);
  t.equal(payload['scope'], 'menus:read menus:write availability:write webhooks:manage');
  t.equal((payload.exp ?? 0) - (payload.iat ?? 0), 3600);
});

t.test('the published keys hold nothing private', async (t) => {
  const { url } = await startTestService(t);
  const response = await send(url, 'GET', '/.well-known/jwks.json', {});
  t.equal(response.status, 200);
  t.strictSame(Object.keys(response.body.keys[0]).sort(), ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
});

t.test('a forged token is refused, whatever is wrong with it', async (t) => {
  const service = await startTestService(t);
  const mint = await minter(service);
  const now = Math.floor(Date.now() / 1000);
  const token = await mint.token({});
  t.equal((await useToken(service, `Bearer ${token}`)).status, 200, 'the same token unforged is accepted');

  const publicPem = mint.publicKey.export({ format: 'pem', type: 'spki' });
  const publicJwk = JSON.stringify(mint.publicKey.export({ format: 'jwk' }));
  const hs256 = (secret: string) =>
    mint.token({ header: { alg: 'HS256' }, key: new TextEncoder().encode(secret) });
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const [header = '', claims = '', signature = ''] = token.split('.');
  const forged: Record<string, string> = {
    expired: await mint.token({ exp: now - 1 }),
    'not yet valid': await mint.token({ nbf: now + 60 }),
    'of another issuer': await mint.token({ iss: 'somebody-else' }),
    'for another audience': await mint.token({ aud: 'somebody-else' }),
    'without sub': await mint.token({ sub: undefined }),
    'without scope': await mint.token({ scope: undefined }),
    'without jti': await mint.token({ jti: undefined }),
    'without exp': await mint.token({ exp: undefined }),
    'without iss': await mint.token({ iss: undefined }),
    'without aud': await mint.token({ aud: undefined }),
    'of a client that does not exist': await mint.token({ sub: 'client_unknown' }),
    'of another type': await mint.token({ header: { typ: 'JWT' } }),
    'with an unknown kid': await mint.token({ header: { kid: 'unknown' } }),
    'without kid': await mint.token({ header: { kid: undefined } }),
    'by another key under a known kid': await mint.token({ key: other }),
    'with the public key as an HMAC secret in PEM': await hs256(String(publicPem)),
    'with the public key as an HMAC secret in JWK': await hs256(publicJwk),
    'without a signature, alg none': new UnsecuredJWT(mint.claims).encode(),
    'with its signature cut off': `${header}.${claims}.`,
    'with its signature cut short': token.slice(0, -4),
    'with other claims under its signature': `${header}.${encode({ ...mint.claims, sub: 'client_x' })}.${signature}`,
    'with another header over its signature': `${encode({ alg: 'none', typ: 'at+jwt' })}.${claims}.${signature}`,
  };
  for (const [fault, text] of Object.entries(forged)) {
    const response = await useToken(service, `Bearer ${text}`);
    t.match(response, { status: 401, body: { title: 'Unauthorized', code: 'invalid_token' } }, fault);
    t.match(
      response.headers['www-authenticate'],
      /^Bearer error="invalid_token", error_description="[^"]+"$/,
    );
  }
});

t.test('only a bearer token in the header is looked at', async (t) => {
  const service = await startTestService(t);
  const token = await service.api.token();
  const { client_id, client_secret } = service.api.credentials;
  const basic = `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`;
  const challenges: [string, string, RegExp][] = [
    ['two tokens', `Bearer ${token} ${token}`, /^Bearer error="invalid_token"/],
    ['two tokens with a comma', `Bearer ${token}, Bearer ${token}`, /^Bearer error="invalid_token"/],
    ['no token', 'Bearer ', /^Bearer$/],
    ['a token alone', token, /^Bearer$/],
    ['the client itself', basic, /^Bearer$/],
    ['nothing', '', /^Bearer$/],
  ];
  for (const [what, authorization, challenge] of challenges) {
    const response = await useToken(service, authorization);
    t.equal(response.status, 401, what);
    t.match(response.headers['www-authenticate'], challenge);
  }
  const inQuery = await send(service.url, 'GET', `/api/v1/menus?access_token=${token}&token=${token}`, {});
  t.equal(inQuery.status, 401);
  const inCookie = await send(service.url, 'GET', '/api/v1/menus', { cookie: `token=${token}` });
  t.equal(inCookie.status, 401);
});

t.test('the scheme may be written in any case (RFC 9110, section 11.1)', async (t) => {
  const service = await startTestService(t);
  t.equal((await useToken(service, `bearer ${await service.api.token()}`)).status, 200);
});

t.test('a token that was accepted a moment ago is refused once it has expired', async (t) => {
  const service = await startTestService(t);
  const mint = await minter(service);
  const exp = Math.floor(Date.now() / 1000) + 2;
  const authorization = `Bearer ${await mint.token({ exp })}`;
  t.equal((await useToken(service, authorization)).status, 200);
  await eventually('it expires', async () => Date.now() > exp * 1000);
  for (let sent = 0; sent < 40; sent++) t.equal((await useToken(service, authorization)).status, 401);
});

/** Claims that take the place of the service's own, undefined for none; likewise of its header and key. */
type Forgery = { [Claim in keyof JWTPayload]?: JWTPayload[Claim] | undefined } & {
  header?: object;
  key?: KeyObject | Uint8Array;
};

/** Makes tokens as the service does, with its own key, except for what is given. */
async function minter({ database, api }: TestService) {
  const row = await database.selectFrom('signing_key').selectAll().executeTakeFirstOrThrow();
  const privateKey = createPrivateKey(createSeal(encryptionKey).open(row.sealed_private_key));
  const now = Math.floor(Date.now() / 1000);
  const claims: JWTPayload = {
    iss: issuer,
    aud: audience,
    sub: api.credentials.client_id,
    scope: 'menus:read',
    jti: randomUUID(),
    iat: now,
    exp: now + 60,
  };
  return {
    claims,
    publicKey: createPublicKey(privateKey),
    token: ({ header, key = privateKey, ...changed }: Forgery): Promise<string> =>
      new SignJWT({ ...claims, ...changed } as JWTPayload)
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: row.kid, ...header })
        .sign(key),
  };
}

function useToken({ url }: TestService, authorization: string): Promise<ApiResponse> {
  return send(url, 'GET', '/api/v1/menus?limit=1', { authorization });
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
