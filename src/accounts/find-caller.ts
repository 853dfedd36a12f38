import type { Database } from '../db/database.ts';
import type { Caller } from '../http/caller.ts';
import { impliedScopes, isScope } from '../http/scopes.ts';
import { type Client, findClient } from './client.ts';

// A disabled client is refused this soon, and a busy one costs one look-up in this time.
const trustMs = 1_000;

/**
 * Finds callers by the claims of their verified token.
 * @returns a function that gives undefined for a client that is unknown or disabled.
 */
export function createCallerFinder(
  database: Database,
): (clientId: string, scope: string) => Promise<Caller | undefined> {
  const known = new Map<string, { until: number; client: Promise<Client | undefined> }>();

  return async (clientId, scope) => {
    let entry = known.get(clientId);
    if (!entry || entry.until < performance.now()) {
      if (known.size > 10_000) known.clear();
      const client = findClient(database, clientId);
      client.catch(() => known.delete(clientId));
      entry = { until: performance.now() + trustMs, client };
      known.set(clientId, entry);
    }
    const client = await entry.client;
    return client && callerOf(client, scope);
  };
}

// A scope that was taken from the client since the token was issued is gone from the token too.
function callerOf(client: Client, scope: string): Caller {
  const granted = impliedScopes(client.scopes);
  const asked = impliedScopes(scope.split(' ').filter(isScope));
  return {
    accountId: client.account_id,
    clientId: client.client_id,
    scopes: asked.intersection(granted),
    locationIds: client.location_ids,
  };
}
