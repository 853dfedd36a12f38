import { OAuthFailure } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import { impliedScopes, isScope, type Scope } from '../http/scopes.ts';
import { authenticateClient } from './client.ts';
import { type Tokens, tokenLifetime } from './tokens.ts';

/** Client credentials grant, RFC 6749, section 4.4. */
export function issueToken({ tokens }: { tokens: Tokens }) {
  return async ({ body, authorization, database }: Call<'issueToken'>): Promise<Reply<'issueToken'>> => {
    const { id, secret } = credentials(authorization, body);
    const client = await authenticateClient(database, id, secret);
    if (!client)
      throw new OAuthFailure('invalid_client', 'The client is unknown or disabled, or its secret is wrong.');

    const scope = grantedScope(client.scopes, body.scope);
    return ok(
      {
        access_token: tokens.issue({ sub: client.client_id, scope }),
        token_type: 'Bearer',
        expires_in: tokenLifetime,
        scope,
      },
      { 'Cache-Control': 'no-store', Pragma: 'no-cache' },
    );
  };
}

// RFC 6749, section 2.3: exactly one way of authentication in a request.
function credentials(
  authorization: string | undefined,
  { client_id, client_secret }: Call<'issueToken'>['body'],
): { id: string; secret: string } {
  if (authorization !== undefined) {
    const { id, secret } = basicCredentials(authorization);
    if (client_secret !== undefined || (client_id !== undefined && client_id !== id)) {
      throw new OAuthFailure(
        'invalid_request',
        'Send the client credentials by HTTP Basic or in the body, not both.',
      );
    }
    return { id, secret };
  }
  if (client_id === undefined || client_secret === undefined) throw noCredentials();
  return { id: client_id, secret: client_secret };
}

// RFC 6749, section 2.3.1: both parts are form-encoded before they are joined.
function basicCredentials(authorization: string): { id: string; secret: string } {
  const basic = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(authorization)?.[1] ?? '';
  const [id = '', ...rest] = Buffer.from(basic, 'base64').toString().split(':').map(formDecoded);
  // Printable ASCII is all that either may hold (RFC 6749, appendix A); a database refuses some of the rest.
  if (!/^[\x20-\x7e]+$/.test(id)) throw noCredentials();
  return { id, secret: rest.join(':') };
}

function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

function noCredentials(): OAuthFailure {
  return new OAuthFailure('invalid_client', 'Send client_id and client_secret by HTTP Basic or in the body.');
}

function grantedScope(allowed: Scope[], asked: string | undefined): string {
  if (asked === undefined) return allowed.join(' ');
  const scopes = asked.split(' ').filter(Boolean);
  const within = impliedScopes(allowed);
  const beyond = scopes.find((scope) => !isScope(scope) || !within.has(scope));
  if (beyond !== undefined || scopes.length === 0) {
    throw new OAuthFailure('invalid_scope', `This client can request: ${[...within].join(' ')}`);
  }
  return [...new Set(scopes)].join(' ');
}
