import { timingSafeEqual } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { type Param, statement } from '../db/statement.ts';
import { type Client, enabledClients, type FoundClient, hashOfSecret, requireServedHere } from './client.ts';

/*
 * Anybody can make this service look up a client, as often as they like. Attempts cannot be refused before they are
 * checked, since the right secret must get a token whatever others have sent. Instead the cost is bounded: a process
 * looks up all waiting clients in one statement, and runs one such statement at a time. A flood thus occupies one
 * connection; a caller who arrives in the middle of it waits for two statements.
 */

/** Returns the client, or undefined if it is unknown or disabled, or if the secret is none of its own. */
export type AuthenticateClient = (clientId: string, secret: string) => Promise<Client | undefined>;

/**
 * Checks client ids and secrets against the database; concurrent calls share its lookups.
 * @param note is told of the account of each client that it returns: what the account had in another cell, no replica of
 *   this one may hide. Whoever comes from there needs a token first.
 */
export function createClientAuthentication(
  database: Database,
  note: (accountIds: number[]) => Promise<void> = async () => {},
): AuthenticateClient {
  const lookUp = together(async (clientIds) => {
    const rows = await selectWithSecrets(database, { client_ids: clientIds });
    return new Map(rows.map((row) => [row.client_id, row]));
  });

  return async (clientId, secret) => {
    const { secret_hashes = [Buffer.alloc(32)], ...client } = (await lookUp(clientId)) ?? {};
    // An unknown client costs the same comparison as a known one, and each of the secrets is compared.
    const hash = hashOfSecret(secret);
    const matching = secret_hashes.filter((one) => timingSafeEqual(one, hash));
    if (!('client_id' in client) || matching.length === 0) return undefined;
    const served = requireServedHere(client);
    await note([served.account_id]);
    return served;
  };
}

/** Loads the values of all keys that were requested while the previous load was running. */
function together<V>(load: (keys: string[]) => Promise<Map<string, V>>) {
  let waiting = new Map<string, PromiseWithResolvers<V | undefined>>();
  let isLoading = false;

  const loadAll = async () => {
    isLoading = true;
    while (waiting.size > 0) {
      const asked = waiting;
      waiting = new Map();
      try {
        const values = await load([...asked.keys()]);
        for (const [key, { resolve }] of asked) resolve(values.get(key));
      } catch (error) {
        // Calls that arrived meanwhile would only wait for the same unavailable database.
        for (const { reject } of [...asked.values(), ...waiting.values()]) reject(error);
        waiting = new Map();
      }
    }
    isLoading = false;
  };

  return (key: string): Promise<V | undefined> => {
    const wanted = waiting.get(key) ?? Promise.withResolvers<V | undefined>();
    waiting.set(key, wanted);
    if (!isLoading) void loadAll();
    return wanted.promise;
  };
}

const selectWithSecrets = statement(
  'accounts.authenticateClient',
  (p: Param<{ client_ids: readonly string[] }>) =>
    enabledClients()
      .where('client_id', '=', sql<string>`any(${p('client_ids', 'text[]')})`)
      .select(
        sql<Buffer[]>`secret_hash || array(
        select retired.secret_hash from retired_client_secret as retired
        where retired.client_id = client.client_id and retired.account_id = client.account_id
          and expires_at > now()
      )`.as('secret_hashes'),
      )
      .$castTo<FoundClient & { secret_hashes: Buffer[] }>(),
);
