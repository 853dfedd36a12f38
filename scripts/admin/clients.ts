import type { Database } from '../../src/db/database.ts';
import { allScopes } from '../../src/http/scopes.ts';
import {
  type Command,
  readLocations,
  readNewClientId,
  readOverlap,
  readScopes,
  UsageError,
} from './command.ts';

export const clientHelp = `  create-client --account NAME [--client CLIENT_ID] [--scopes a,b] [--locations 1,2]
                            create a client, and its account if it is new; print its secret, once. The id, random
                            unless given, is shown beside what the client makes unavailable
  list-clients [--account NAME]
                            list clients with what they may do, without secrets
  update-client CLIENT_ID [--scopes a,b] [--locations 1,2|all]
                            change what a client may do; its tokens follow within about a second
  rotate-client-secret CLIENT_ID [--overlap 24h]
                            give a client a new secret, printed once. Earlier ones stay valid until the overlap
                            ends, or end earlier if that was set; with --overlap 0 they and all tokens end now
  disable-client CLIENT_ID  disable a client; its tokens are refused within about a second
  enable-client CLIENT_ID   enable a client again; it has to get new tokens`;

export const clientCommands: Record<string, Command> = {
  'create-client': {
    options: ['account', 'client', 'scopes', 'locations'],
    prepare(options) {
      const account = options.account?.trim();
      if (!account) throw new UsageError('create-client needs --account NAME');
      const clientId = options.client === undefined ? {} : { clientId: readNewClientId(options.client) };
      const scopes = options.scopes === undefined ? [...allScopes] : readScopes(options.scopes);
      const locationIds = options.locations === undefined ? null : readLocations(options.locations);
      return async (database) => {
        const { createClient } = await import('../../src/accounts/client.ts');
        await requireLocations(database, account, locationIds ?? []);
        const wanted = { account, ...clientId, scopes, locationIds };
        const client = await database
          .transaction()
          .execute((transaction) => createClient(transaction, wanted));
        const { account_id, client_id, client_secret, location_ids: locations } = client;
        return { account_id, client_id, client_secret, scopes, ...(locations && { locations }) };
      };
    },
  },
  'list-clients': {
    options: ['account'],
    prepare:
      ({ account }) =>
      async (database) =>
        (await changeClient()).listClients(database, account),
  },
  'update-client': {
    options: ['scopes', 'locations'],
    argument: 'CLIENT_ID',
    prepare({ scopes, locations }, clientId) {
      if (scopes === undefined && locations === undefined)
        throw new UsageError('update-client needs --scopes or --locations');
      const change = {
        ...(scopes !== undefined && { scopes: readScopes(scopes) }),
        ...(locations !== undefined && { locationIds: readLocations(locations) }),
      };
      return async (database) => {
        const { updateClient } = await changeClient();
        const client = await findListed(database, clientId);
        await requireLocations(database, client.account, change.locationIds ?? []);
        return updateClient(database, clientId, change);
      };
    },
  },
  'rotate-client-secret': {
    options: ['overlap'],
    argument: 'CLIENT_ID',
    prepare({ overlap = '24h' }, client_id) {
      const seconds = readOverlap(overlap);
      return async (database) => {
        const { rotateClientSecret } = await changeClient();
        const rotated = await rotateClientSecret(database, client_id, seconds);
        if (!rotated) throw unknownClient(client_id);
        return { client_id, ...rotated };
      };
    },
  },
  'disable-client': {
    options: [],
    argument: 'CLIENT_ID',
    prepare: (_options, client_id) => async (database) => {
      const { disableClient } = await changeClient();
      if (!(await disableClient(database, client_id))) throw unknownClient(client_id);
      return { client_id, disabled: true };
    },
  },
  'enable-client': {
    options: [],
    argument: 'CLIENT_ID',
    prepare: (_options, client_id) => async (database) => {
      const { enableClient } = await changeClient();
      if (!(await enableClient(database, client_id))) throw unknownClient(client_id);
      return { client_id, disabled: false };
    },
  },
};

const changeClient = () => import('../../src/accounts/change-client.ts');

async function findListed(database: Database, clientId: string) {
  const { listClients } = await changeClient();
  const client = (await listClients(database)).find(({ client_id }) => client_id === clientId);
  if (!client) throw unknownClient(clientId);
  return client;
}

function unknownClient(clientId: string): Error {
  return new Error(`there is no client ${clientId}; see list-clients`);
}

/** A grant on a location that does not exist yet would one day allow more than anybody meant. */
async function requireLocations(database: Database, account: string, ids: number[]): Promise<void> {
  if (ids.length === 0) return;
  const rows = await database
    .selectFrom('location')
    .innerJoin('account', 'account.account_id', 'location.account_id')
    .select('location_id')
    .where('account.name', '=', account)
    .where('location_id', 'in', ids)
    .execute();
  const missing = ids.find((id) => !rows.some((row) => row.location_id === id));
  if (missing === undefined) return;
  throw new Error(`account ${account} has no location ${missing}: create it first, or leave out --locations`);
}
