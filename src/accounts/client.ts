import { createHash, randomBytes } from 'node:crypto';
import { isAway } from '../db/cell.ts';
import type { Database } from '../db/database.ts';
import { build, type Param, statement } from '../db/statement.ts';
import { serviceUnavailable } from '../http/errors.ts';
import type { Scope } from '../http/scopes.ts';

/** A client as requests are checked against it. */
export interface Client {
  account_id: number;
  client_id: string;
  scopes: Scope[];
  location_ids: number[] | null;
  /** Tokens of an earlier generation are refused. */
  token_generation: number;
}

/** A client as it was looked up. */
export type FoundClient = Client & { is_away: boolean };

/** @throws 503 while the account of the client is on its way to or from another cell */
export function requireServedHere({ is_away, ...client }: FoundClient): Client {
  if (is_away) throw serviceUnavailable();
  return client;
}

/**
 * Creates a client, and its account when that is new.
 * @param wanted clientId is what `unavailable_by` shows; a random one unless given
 * @returns the client with its secret, which is stored only as a hash and cannot be shown again.
 * @throws when another client has that id; in a transaction, nothing is then left
 */
export async function createClient(
  database: Database,
  wanted: { account: string; clientId?: string; scopes: Scope[]; locationIds: number[] | null },
): Promise<Client & { client_secret: string }> {
  const client_secret = newClientSecret();
  const client_id = wanted.clientId ?? `client_${randomBytes(12).toString('hex')}`;
  const [account] = await ensureAccount(database, { name: wanted.account });
  if (!account) throw new Error('upsert returned no row');
  const { scopes, locationIds: location_ids } = wanted;
  const client = { ...account, client_id, scopes, location_ids };
  const [inserted] = await insertClient(database, { ...client, secret_hash: hashOfSecret(client_secret) });
  if (!inserted) throw new Error(`there is a client ${client_id} already: name another one`);
  return { ...client, token_generation: 0, client_secret };
}

/** Selects the clients that may act, with whether their account is served in another cell. */
export const enabledClients = () =>
  build
    .selectFrom('client')
    .select(['account_id', 'client_id', 'scopes', 'location_ids', 'token_generation'])
    .select(isAway('client.account_id').as('is_away'))
    .where('disabled_at', 'is', null);

/** 256 random bits, so that a plain hash resists guessing as well as a slow one would. */
export function newClientSecret(): string {
  return `mss_${randomBytes(32).toString('base64url')}`;
}

/** A secret in the form in which the database stores it. */
export function hashOfSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

const ensureAccount = statement('accounts.ensureAccount', (p: Param<{ name: string }>) =>
  build
    .insertInto('account')
    .values({ name: p('name', 'text') })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ name: p('name', 'text') }))
    .returning('account_id'),
);

type NewClient = Omit<Client, 'token_generation'> & { secret_hash: Buffer };

const insertClient = statement('accounts.createClient', (p: Param<NewClient>) =>
  build
    .insertInto('client')
    .values({
      account_id: p('account_id', 'bigint'),
      client_id: p('client_id', 'text'),
      secret_hash: p('secret_hash', 'bytea'),
      scopes: p('scopes', 'text[]'),
      location_ids: p('location_ids', 'bigint[]'),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('client_id'),
);
