import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { shared } from '../db/shared-statement.ts';
import { type Param, statement } from '../db/statement.ts';
import { unplanned } from '../db/unplanned.ts';
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
    const client = findHolder(database, { client_id, token_id });
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

interface Holding {
  client_id: string;
  token_id: string;
}

/*
 * The client that holds a token. Look-ups at once share a statement: they come before the rate limit, and those of one
 * client with many tokens would otherwise occupy all connections.
 */
const findHolder = shared<Holding, FoundClient | undefined>({
  key: () => '',
  alone: async (database, call) => (await selectHolder(database, call))[0],
  isRead: true,
  async together(database, calls) {
    const found = await selectHolders(database, {
      client_ids: calls.map(({ client_id }) => client_id),
      token_ids: calls.map(({ token_id }) => token_id),
    });
    const byNumber = new Map(found.map(({ number, ...client }) => [number, client]));
    return calls.map((_, place) => byNumber.get(place + 1));
  },
});

const holder = (client_id: RawBuilder<string>, token_id: RawBuilder<string>) =>
  enabledClients()
    .where('client_id', '=', client_id)
    .where(
      sql<boolean>`not exists (
          select from revoked_token as revoked
          where revoked.client_id = client.client_id and revoked.account_id = client.account_id
            and revoked.token_id = ${token_id}
        )`,
    )
    .$castTo<FoundClient>();

const selectHolder = statement('accounts.findCaller', (p: Param<Holding>) =>
  holder(p('client_id', 'text'), p('token_id', 'uuid')),
);

const selectHolders = statement(
  'accounts.findCallers',
  (p: Param<{ client_ids: string[]; token_ids: string[] }>) => sql<FoundClient & { number: number }>`
    select wanted.number, found.*
    from unnest(
      ${unplanned(p('client_ids', 'text[]'), 'text[]')}, ${unplanned(p('token_ids', 'uuid[]'), 'uuid[]')}
    ) with ordinality as wanted (client_id, token_id, number)
    cross join lateral (${holder(sql.ref('wanted.client_id'), sql.ref('wanted.token_id'))}) as found`,
);
