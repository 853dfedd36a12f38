import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { type Param, statement } from '../db/statement.ts';
import type { Claims } from '../http/authenticate.ts';
import type { Caller } from '../http/caller.ts';
import { impliedScopes, isScope } from '../http/scopes.ts';
import { type Client, enabledClients, type FoundClient, requireServedHere } from './client.ts';

/** A disabled client and a revoked token are refused this soon, and a busy token costs one look-up in this time. */
export const trustMs = 1_000;

/** Finds callers by the claims of their verified token. */
export interface CallerFinder {
  /**
   * Undefined if the client is unknown or disabled, or if the token was ended or revoked.
   * @throws 503 while the account is on its way to or from another cell
   */
  find(claims: Claims): Promise<Caller | undefined>;
  /** The caller, if it was found a moment ago. */
  known(claims: Claims): Caller | undefined;
}

interface LookedUp {
  until: number;
  client: Promise<FoundClient | undefined>;
  caller?: Caller | undefined;
}

/** Claims are told apart as objects: those of a token that is used often have to be the same one. */
export function createCallerFinder(database: Database): CallerFinder {
  const entries = new WeakMap<Claims, LookedUp>();
  const current = (claims: Claims) => {
    const entry = entries.get(claims);
    return entry && entry.until >= performance.now() ? entry : undefined;
  };

  function look(claims: Claims): LookedUp {
    const { sub: client_id, jti: token_id } = claims;
    const client = selectHolder(database, { client_id, token_id }).then(([found]) => found);
    const entry = { until: performance.now() + trustMs, client };
    client.catch(() => entries.delete(claims));
    entries.set(claims, entry);
    return entry;
  }

  return {
    known: (claims) => current(claims)?.caller,
    async find(claims) {
      const entry = current(claims) ?? look(claims);
      const client = await entry.client;
      entry.caller ??= client && callerOf(requireServedHere(client), claims);
      return entry.caller;
    },
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
    .$castTo<FoundClient>(),
);
