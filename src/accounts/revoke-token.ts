import { sql } from 'kysely';
import { type Database, shareOf } from '../db/database.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { OAuthFailure } from '../http/errors.ts';
import type { Call, Reply } from '../http/handler.ts';
import type { AuthenticateClient } from './authenticate-client.ts';
import { requireClient } from './client-credentials.ts';
import type { Tokens } from './tokens.ts';

/**
 * Token revocation, RFC 7009. A token that is none, or has ended, is as good as revoked (section 2.2); one of another
 * client stays as it is (section 2.1).
 */
export function revokeToken({
  tokens,
  authenticateClient,
}: {
  tokens: Tokens;
  authenticateClient: AuthenticateClient;
}) {
  return async (call: Call<'revokeToken'>): Promise<Reply<'revokeToken'>> => {
    const { account_id, client_id } = await requireClient(authenticateClient, call);
    const token = await tokens.read(call.body.token);
    if (token && token.sub !== client_id)
      throw new OAuthFailure('unauthorized_client', 'The token was issued to another client.');
    // No rate limit holds back a client that has the right secret.
    const share = shareOf(call.database, client_id);
    if (token) await insert(share, { account_id, client_id, token_id: token.jti, ends: token.exp });
    return { status: 200, headers: {}, body: undefined };
  };
}

/**
 * Removes a batch of revoked tokens that have ended by themselves.
 * @returns how many; there may be more.
 */
export async function removeEndedTokens(database: Database, batch = 1000): Promise<number> {
  return (await removeEnded(database, { batch })).length;
}

interface RevokedToken {
  account_id: number;
  client_id: string;
  token_id: string;
  /** Unix seconds. */
  ends: number;
}

const insert = statement('accounts.revokeToken', (p: Param<RevokedToken>) =>
  build
    .insertInto('revoked_token')
    .values({
      account_id: p('account_id', 'bigint'),
      client_id: p('client_id', 'text'),
      token_id: p('token_id', 'uuid'),
      expires_at: sql`to_timestamp(${p('ends', 'bigint')})`,
    })
    .onConflict((conflict) => conflict.doNothing()),
);

const removeEnded = statement('accounts.removeEndedTokens', (p: Param<{ batch: number }>) =>
  build
    .deleteFrom('revoked_token')
    .where(({ eb, refTuple }) =>
      eb(refTuple('client_id', 'token_id', 'account_id'), 'in', (db) =>
        db
          .selectFrom('revoked_token as ended')
          .select(['ended.client_id', 'ended.token_id', 'ended.account_id'])
          .where('ended.expires_at', '<=', sql<Date>`now()`)
          .orderBy('ended.expires_at')
          .limit(p('batch', 'bigint'))
          .forUpdate()
          .skipLocked()
          .$asTuple('client_id', 'token_id', 'account_id'),
      ),
    )
    .returning('token_id'),
);
