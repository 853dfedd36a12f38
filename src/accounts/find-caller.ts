import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { type Param, statement } from '../db/statement.ts';
import type { Claims } from '../http/authenticate.ts';
import type { Caller } from '../http/caller.ts';
import { impliedScopes, isScope } from '../http/scopes.ts';
import { type Client, enabledClients } from './client.ts';

// A disabled client and a revoked token are refused this soon, and a busy token costs one look-up in this time.
const trustMs = 1_000;

/**
 * Finds callers by the claims of their verified token.
 * @returns a function that returns undefined if the client is unknown or disabled, or if the token was ended or
 *   revoked.
 */
export function createCallerFinder(database: Database): (claims: Claims) => Promise<Caller | undefined> {
  const known = new Map<string, { until: number; client: Promise<Client | undefined> }>();

  return async (claims) => {
    const { sub: client_id, jti: token_id } = claims;
    const holder = `${client_id} ${token_id}`;
    let entry = known.get(holder);
    if (!entry || entry.until < performance.now()) {
      if (known.size > 10_000) known.clear();
      const client = selectHolder(database, { client_id, token_id }).then(([found]) => found);
      client.catch(() => known.delete(holder));
      entry = { until: performance.now() + trustMs, client };
      known.set(holder, entry);
    }
    const client = await entry.client;
    return client && callerOf(client, claims);
  };
}

// A scope that was taken from the client since the token was issued is gone from the token too.
function callerOf(client: Client, { scope, gen = 0 }: Claims): Caller | undefined {
  if (gen < client.token_generation) return undefined;
  const granted = impliedScopes(client.scopes);
  const asked = impliedScopes(scope.split(' ').filter(isScope));
  return {
    accountId: client.account_id,
    clientId: client.client_id,
    scopes: asked.intersection(granted),
    locationIds: client.location_ids,
  };
}

const selectHolder = statement('accounts.findCaller', (p: Param<{ client_id: string; token_id: string }>) =>
  enabledClients()
    .where('client_id', '=', p('client_id', 'text'))
    .where(
      sql<boolean>`not exists (
          select from revoked_token as revoked
          where revoked.client_id = client.client_id and revoked.account_id = client.account_id
            and revoked.token_id = ${p('token_id', 'uuid')}
        )`,
    )
    .$castTo<Client>(),
);
