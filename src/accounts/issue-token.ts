import { OAuthFailure } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import { ok } from '../http/reply.ts';
import { impliedScopes, isScope, type Scope } from '../http/scopes.ts';
import type { AuthenticateClient } from './authenticate-client.ts';
import { requireClient } from './client-credentials.ts';
import { type Tokens, tokenLifetime } from './tokens.ts';

/** Client credentials grant, RFC 6749, section 4.4. */
export function issueToken({
  tokens,
  authenticateClient,
}: {
  tokens: Tokens;
  authenticateClient: AuthenticateClient;
}) {
  return async (call: Call<'issueToken'>): Promise<Reply<'issueToken'>> => {
    const client = await requireClient(authenticateClient, call);
    const scope = grantedScope(client.scopes, call.body.scope);
    return ok(
      {
        access_token: await tokens.issue({ sub: client.client_id, scope, gen: client.token_generation }),
        token_type: 'Bearer',
        expires_in: tokenLifetime,
        scope,
      },
      { 'Cache-Control': 'no-store', Pragma: 'no-cache' },
    );
  };
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
