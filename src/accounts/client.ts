import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Database } from '../db/database.ts';
import { build, type Param, statement } from '../db/statement.ts';
import type { Scope } from '../http/scopes.ts';

export interface Client {
  account_id: number;
  client_id: string;
  scopes: Scope[];
  location_ids: number[] | null;
}

/**
 * Creates a client, and its account when that is new.
 * @returns the client with its secret, which is stored only as a hash and cannot be shown again.
 */
export async function createClient(
  database: Database,
  wanted: { account: string; scopes: Scope[]; locationIds: number[] | null },
): Promise<Client & { client_secret: string }> {
  // 256 random bits: a plain hash resists guessing as well as a slow one would.
  const client_secret = `mss_${randomBytes(32).toString('base64url')}`;
  const client_id = `client_${randomBytes(12).toString('hex')}`;
  const [account] = await ensureAccount(database, { name: wanted.account });
  if (!account) throw new Error('upsert returned no row');
  const { scopes, locationIds: location_ids } = wanted;
  const client = { ...account, client_id, scopes, location_ids };
  await insertClient(database, { ...client, secret_hash: hashOf(client_secret) });
  return { ...client, client_secret };
}

/** The client, unless it is unknown or disabled. */
export async function findClient(database: Database, clientId: string): Promise<Client | undefined> {
  const [row] = await selectClient(database, { client_id: clientId });
  return row && asClient(row);
}

/** The client, unless it is unknown, disabled or its secret is another. */
export async function authenticateClient(
  database: Database,
  clientId: string,
  secret: string,
): Promise<Client | undefined> {
  const [row] = await selectClient(database, { client_id: clientId });
  // An unknown client costs the same comparison as a known one.
  const matches = timingSafeEqual(row?.secret_hash ?? Buffer.alloc(32), hashOf(secret));
  return row && matches ? asClient(row) : undefined;
}

const ensureAccount = statement('accounts.ensureAccount', (p: Param<{ name: string }>) =>
  build
    .insertInto('account')
    .values({ name: p('name', 'text') })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ name: p('name', 'text') }))
    .returning('account_id'),
);

const insertClient = statement('accounts.createClient', (p: Param<StoredClient>) =>
  build.insertInto('client').values({
    account_id: p('account_id', 'bigint'),
    client_id: p('client_id', 'text'),
    secret_hash: p('secret_hash', 'bytea'),
    scopes: p('scopes', 'text[]'),
    location_ids: p('location_ids', 'bigint[]'),
  }),
);

const selectClient = statement('accounts.findClient', (p: Param<{ client_id: string }>) =>
  build
    .selectFrom('client')
    .select(['account_id', 'client_id', 'secret_hash', 'scopes', 'location_ids'])
    .where('client_id', '=', p('client_id', 'text'))
    .where('disabled_at', 'is', null)
    .$castTo<StoredClient>(),
);

type StoredClient = Client & { secret_hash: Buffer };

function asClient({ secret_hash: _, ...client }: StoredClient): Client {
  return client;
}

function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
