/**
 * What an operator can do to a client. Each change takes effect within a second, the time for which rights are
 * cached.
 */
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { build, type Param, statement } from '../db/statement.ts';
import type { Scope } from '../http/scopes.ts';
import { hashOfSecret, newClientSecret } from './client.ts';

/** A client as `admin list-clients` shows it. */
export interface ListedClient {
  account_id: number;
  account: string;
  client_id: string;
  scopes: Scope[];
  locations: number[] | null;
  created_at: Date;
  disabled_at: Date | null;
  /** When the last of its replaced secrets ends; null: the current one alone is valid. */
  overlap_until: Date | null;
}

/** All clients, or those of an account, by age. */
export function listClients(database: Database, account?: string): Promise<ListedClient[]> {
  return selectClients(database, { account: account ?? null });
}

/**
 * Changes what a client may do. Its tokens follow, since a token never allows more than its client may do.
 * @returns what it may do now; undefined when there is no such client.
 */
export async function updateClient(
  database: Database,
  clientId: string,
  change: { scopes?: Scope[]; locationIds?: number[] | null },
): Promise<{ client_id: string; scopes: Scope[]; locations: number[] | null } | undefined> {
  const [client] = await setRights(database, {
    client_id: clientId,
    scopes: change.scopes ?? null,
    changes_locations: change.locationIds !== undefined,
    location_ids: change.locationIds ?? null,
  });
  await lookAtWebhooks(database, { client_id: clientId });
  return client;
}

/**
 * Disables the client. Its existing tokens stay refused even when it is enabled again.
 * @returns whether there is such a client.
 */
export async function disableClient(database: Database, clientId: string): Promise<boolean> {
  const disabled = await disable(database, { client_id: clientId });
  await lookAtWebhooks(database, { client_id: clientId });
  return disabled.length > 0;
}

/**
 * Enables the client again, with the secrets that it had.
 * @returns whether there is such a client.
 */
export async function enableClient(database: Database, clientId: string): Promise<boolean> {
  const enabled = await enable(database, { client_id: clientId });
  await lookAtWebhooks(database, { client_id: clientId });
  return enabled.length > 0;
}

/**
 * Gives a client a new secret. Its earlier secrets stay valid until the overlap ends, or until the end that an
 * earlier rotation has set. Without an overlap all of them end now, and all tokens with them.
 * @param overlapSeconds 0: none.
 * @returns the secret, which cannot be shown again; undefined when there is no such client.
 */
export function rotateClientSecret(
  database: Database,
  clientId: string,
  overlapSeconds: number,
): Promise<{ client_secret: string; overlap_until: Date | null } | undefined> {
  const client_secret = newClientSecret();
  return database.transaction().execute(async (transaction) => {
    const client = { client_id: clientId };
    // Of two rotations at once, the second retires the secret of the first.
    const [locked] = await lockClient(transaction, client);
    if (!locked) return undefined;
    if (overlapSeconds > 0) await retireSecret(transaction, { ...client, overlap_seconds: overlapSeconds });
    await removeRetired(transaction, { ...client, all: overlapSeconds === 0 });
    await setSecret(transaction, {
      ...client,
      secret_hash: hashOfSecret(client_secret),
      ends_tokens: overlapSeconds === 0,
    });
    const [last] = await selectLastEnd(transaction, client);
    return { client_secret, overlap_until: last?.overlap_until ?? null };
  });
}

type ClientId = { client_id: string };

const lastEnd = sql<Date | null>`(
  select max(expires_at) from retired_client_secret as retired
  where retired.client_id = client.client_id and retired.account_id = client.account_id and expires_at > now()
)`;

const selectClients = statement('accounts.listClients', (p: Param<{ account: string | null }>) =>
  build
    .selectFrom('client')
    .innerJoin('account', 'account.account_id', 'client.account_id')
    .select(['account.account_id', 'account.name as account', 'client_id', 'scopes'])
    .select(['location_ids as locations', 'client.created_at', 'disabled_at', lastEnd.as('overlap_until')])
    .where(sql<boolean>`coalesce(account.name = ${p('account', 'text')}, true)`)
    .orderBy('client.created_at')
    .$castTo<ListedClient>(),
);

interface Rights extends ClientId {
  scopes: Scope[] | null;
  changes_locations: boolean;
  location_ids: number[] | null;
}

const setRights = statement('accounts.updateClient', (p: Param<Rights>) =>
  build
    .updateTable('client')
    .set({
      scopes: sql`coalesce(${p('scopes', 'text[]')}, scopes)`,
      location_ids: sql`case when ${p('changes_locations', 'boolean')}
        then ${p('location_ids', 'bigint[]')} else location_ids end`,
    })
    .where('client_id', '=', p('client_id', 'text'))
    .returning(['client_id', 'scopes', 'location_ids as locations'])
    .$castTo<{ client_id: string; scopes: Scope[]; locations: number[] | null }>(),
);

const disable = statement('accounts.disableClient', (p: Param<ClientId>) =>
  build
    .updateTable('client')
    .set({
      disabled_at: sql`coalesce(disabled_at, now())`,
      token_generation: sql`token_generation + 1`,
    })
    .where('client_id', '=', p('client_id', 'text'))
    .returning('client_id'),
);

const enable = statement('accounts.enableClient', (p: Param<ClientId>) =>
  build
    .updateTable('client')
    .set({ disabled_at: null })
    .where('client_id', '=', p('client_id', 'text'))
    .returning('client_id'),
);

/** What waited at its webhooks for the sake of its rights may be due, or wait from now on. */
const lookAtWebhooks = statement('accounts.lookAtWebhooks', (p: Param<ClientId>) =>
  build
    .updateTable('endpoint_due')
    .from('webhook')
    .set({ look_at: sql`now()` })
    .where('webhook.client_id', '=', p('client_id', 'text'))
    .whereRef('endpoint_due.webhook_id', '=', 'webhook.webhook_id')
    .whereRef('endpoint_due.account_id', '=', 'webhook.account_id'),
);

const lockClient = statement('accounts.rotateClientSecret.lock', (p: Param<ClientId>) =>
  build.selectFrom('client').select('client_id').where('client_id', '=', p('client_id', 'text')).forUpdate(),
);

const retireSecret = statement(
  'accounts.rotateClientSecret.retire',
  (p: Param<ClientId & { overlap_seconds: number }>) => sql<object>`
    insert into retired_client_secret (client_id, account_id, secret_hash, expires_at)
    select client_id, account_id, secret_hash, now() + make_interval(secs => ${p('overlap_seconds', 'float8')})
    from client where client_id = ${p('client_id', 'text')}`,
);

const removeRetired = statement(
  'accounts.rotateClientSecret.remove',
  (p: Param<ClientId & { all: boolean }>) =>
    build
      .deleteFrom('retired_client_secret')
      .where('client_id', '=', p('client_id', 'text'))
      .where((eb) => eb.or([eb('expires_at', '<=', sql<Date>`now()`), p('all', 'boolean')])),
);

const setSecret = statement(
  'accounts.rotateClientSecret.set',
  (p: Param<ClientId & { secret_hash: Buffer; ends_tokens: boolean }>) =>
    build
      .updateTable('client')
      .set({
        secret_hash: p('secret_hash', 'bytea'),
        token_generation: sql`token_generation + ${p('ends_tokens', 'boolean')}::int`,
      })
      .where('client_id', '=', p('client_id', 'text')),
);

const selectLastEnd = statement('accounts.rotateClientSecret.end', (p: Param<ClientId>) =>
  build
    .selectFrom('client')
    .select(lastEnd.as('overlap_until'))
    .where('client_id', '=', p('client_id', 'text')),
);
