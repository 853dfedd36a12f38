/** The operator's commands; each works on the database of the running service, and prints JSON. */
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { createClient } from '../src/accounts/client.ts';
import { allScopes, isScope, type Scope } from '../src/accounts/scopes.ts';
import { type Config, readConfig } from '../src/config.ts';
import { type Database, openDatabase } from '../src/db/database.ts';
import { runningEmbedded, startEmbedded } from '../src/db/embedded.ts';
import { migrate } from '../src/db/migrate.ts';
import { loadDemo } from './demo/load.ts';

const help = `usage: npm run --silent admin -- COMMAND

  create-client --account NAME [--scopes a,b] [--locations 1,2]
                            make a client (and its account when it is new); prints its secret, once
  list-clients [--account NAME]
  disable-client CLIENT_ID  its tokens are refused within a second or two
  migrate                   bring the schema up to date
  load-demo                 load the demo account; prints a client for it

Scopes: ${allScopes.join(', ')} (default: all). Without --locations a client may act on every location.
DATABASE_URL and DATA_DIR are read as by the service.`;

/** A command line that cannot be carried out; its message is one line. */
class UsageError extends Error {}

interface Options {
  account?: string;
  scopes?: string;
  locations?: string;
}

const commands: Record<
  string,
  (database: Database, options: Options, argument?: string) => Promise<unknown>
> = {
  async 'create-client'(database, { account, scopes, locations }) {
    if (!account?.trim()) throw new UsageError('create-client needs --account NAME');
    const locationIds = locations === undefined ? null : readLocations(locations);
    const client = await createClient(database, { account, scopes: readScopes(scopes), locationIds });
    const { account_id, client_id, client_secret, scopes: granted, location_ids } = client;
    return {
      account_id,
      client_id,
      client_secret,
      scopes: granted,
      ...(location_ids && { locations: location_ids }),
    };
  },
  async 'list-clients'(database, { account }) {
    return database
      .selectFrom('client')
      .innerJoin('account', 'account.account_id', 'client.account_id')
      .select([
        'account.account_id',
        'account.name as account',
        'client_id',
        'scopes',
        'location_ids as locations',
      ])
      .select(['client.created_at', 'disabled_at'])
      .$if(account !== undefined, (clients) => clients.where('account.name', '=', account as string))
      .orderBy('client.created_at')
      .execute();
  },
  async 'disable-client'(database, _options, clientId) {
    if (!clientId) throw new UsageError('disable-client needs a CLIENT_ID');
    const { numUpdatedRows } = await database
      .updateTable('client')
      .set((eb) => ({ disabled_at: eb.fn.coalesce('disabled_at', eb.val(new Date())) }))
      .where('client_id', '=', clientId)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw new UsageError(`there is no client ${clientId}; see list-clients`);
    return { client_id: clientId, disabled: true };
  },
  async migrate(database) {
    return { applied: await migrate(database) };
  },
  async 'load-demo'(database) {
    return loadDemo(database, { ifEmpty: false });
  },
};

try {
  await main();
} catch (error) {
  console.error(`admin: ${(error as Error).message}`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}

async function main(): Promise<void> {
  const { values, positionals } = readArguments();
  const [name = 'help', argument] = positionals;
  if (values.help || name === 'help') return console.log(help);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) throw new UsageError(`there is no command ${name}; see --help`);
  await withDatabase(readConfig(process.env), async (database) => {
    await migrate(database);
    console.log(JSON.stringify(await command(database, values, argument)));
  });
}

function readArguments() {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      options: { account: text, scopes: text, locations: text, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function readScopes(list: string | undefined): Scope[] {
  if (list === undefined) return [...allScopes];
  const scopes = list.split(',').map((scope) => scope.trim());
  const unknown = scopes.find((scope) => !isScope(scope));
  if (unknown !== undefined)
    throw new UsageError(`there is no scope "${unknown}"; there are ${allScopes.join(', ')}`);
  return [...new Set(scopes)] as Scope[];
}

function readLocations(list: string): number[] {
  return list.split(',').map((text) => {
    if (!/^ *[1-9]\d{0,15} *$/.test(text))
      throw new UsageError(`--locations takes ids such as 1,2, not "${list}"`);
    return Number(text);
  });
}

/** The service's own server when it runs on the embedded default, else one started for this command. */
async function withDatabase(config: Config, work: (database: Database) => Promise<void>): Promise<void> {
  const running = config.databaseUrl ? undefined : await runningEmbedded(config.dataDir);
  const started = config.databaseUrl || running ? undefined : await startEmbedded(config.dataDir);
  const connection: pg.PoolConfig = running ??
    started?.connection ?? { connectionString: config.databaseUrl as string };
  const database = openDatabase(connection, { max: 1 });
  try {
    await work(database);
  } finally {
    await database.destroy();
    await started?.stop();
  }
}
