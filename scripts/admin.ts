/** The operator's commands. Each works on the database of the running service, and prints JSON. */
import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import type pg from 'pg';
import { createClient } from '../src/accounts/client.ts';
import { type Database, openDatabase, requireServer } from '../src/db/database.ts';
import { migrate } from '../src/db/migrate.ts';
import { runningEmbedded, startEmbedded } from '../src/embedded/server.ts';
import { ApiError } from '../src/http/errors.ts';
import { allScopes, isScope, type Scope } from '../src/http/scopes.ts';
import { type Config, readConfig } from '../src/process/config.ts';
import { loadDemo } from '../src/process/demo.ts';

const help = `usage: npm run --silent admin -- COMMAND

  create-client --account NAME [--scopes a,b] [--locations 1,2]
                            create a client, and its account if it is new; prints the secret once
  list-clients [--account NAME]
  disable-client CLIENT_ID  disable a client; its tokens are refused within about a second
  migrate                   bring the database schema up to date
  load-demo                 load the demo account; prints a client for it

Scopes: ${allScopes.join(', ')} (default: all). Without --locations, a client can access every location.
DATABASE_URL and DATA_DIR mean the same as for the service. Each command prints one line of JSON.
Exit status: 0 done, 1 refused or failed, 2 invalid command line.`;

/** A command line that makes no sense; its message is one line that names the fix. */
class UsageError extends Error {}

interface Command {
  options: (keyof Options)[];
  /** Name of the argument; absent: it takes none. */
  argument?: string;
  /** Checks the command line, then gives the work to do. */
  prepare(options: Options, argument: string): (database: Database) => Promise<unknown>;
}

interface Options {
  account?: string;
  scopes?: string;
  locations?: string;
}

const commands: Record<string, Command> = {
  'create-client': {
    options: ['account', 'scopes', 'locations'],
    prepare(options) {
      const account = options.account?.trim();
      if (!account) throw new UsageError('create-client needs --account NAME');
      const scopes = readScopes(options.scopes);
      const locationIds = options.locations === undefined ? null : readLocations(options.locations);
      return async (database) => {
        await requireLocations(database, account, locationIds ?? []);
        const client = await createClient(database, { account, scopes, locationIds });
        const { account_id, client_id, client_secret, location_ids: locations } = client;
        return { account_id, client_id, client_secret, scopes, ...(locations && { locations }) };
      };
    },
  },
  'list-clients': {
    options: ['account'],
    prepare:
      ({ account }) =>
      (database) =>
        database
          .selectFrom('client')
          .innerJoin('account', 'account.account_id', 'client.account_id')
          .select(['account.account_id', 'account.name as account', 'client_id', 'scopes'])
          .select(['location_ids as locations', 'client.created_at', 'disabled_at'])
          .$if(account !== undefined, (clients) => clients.where('account.name', '=', account as string))
          .orderBy('client.created_at')
          .execute(),
  },
  'disable-client': {
    options: [],
    argument: 'CLIENT_ID',
    prepare: (_options, client_id) => async (database) => {
      const { numUpdatedRows } = await database
        .updateTable('client')
        .set((eb) => ({ disabled_at: eb.fn.coalesce('disabled_at', eb.val(new Date())) }))
        .where('client_id', '=', client_id)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) throw new Error(`there is no client ${client_id}; see list-clients`);
      return { client_id, disabled: true };
    },
  },
  migrate: {
    options: [],
    prepare: () => async (database) => ({ applied: await migrate(database) }),
  },
  'load-demo': {
    options: [],
    prepare: () => async (database) => {
      try {
        return await loadDemo(database, { ifEmpty: false });
      } catch (error) {
        if (!(error instanceof ApiError) || error.errors?.[0]?.code !== 'taken') throw error;
        throw new Error(
          'the demo account is loaded already: create-client --account Demo creates another client for it',
        );
      }
    },
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
  const { help: wantsHelp, ...options } = values;
  const [name, ...rest] = positionals;
  if (wantsHelp || name === 'help') {
    console.log(help);
    return;
  }
  const work = requireCommand(name, options, rest).prepare(options, rest[0] ?? '');
  await withDatabase(readConfig(process.env), async (database) => {
    if (name !== 'migrate') await migrate(database);
    console.log(JSON.stringify(await work(database)));
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
    throw new UsageError(`${(error as Error).message.split('. ', 1)[0]}; see --help`);
  }
}

function requireCommand(name: string | undefined, options: Options, rest: string[]): Command {
  const command = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) {
    throw new UsageError(name ? `there is no command ${name}; see --help` : 'name a command; see --help');
  }
  const stray = Object.keys(options).find((option) => !command.options.includes(option as keyof Options));
  if (stray) throw new UsageError(`${name} takes no --${stray}; see --help`);
  if (command.argument && !rest[0])
    throw new UsageError(`${name} needs a ${command.argument}; see list-clients`);
  const extra = rest[command.argument ? 1 : 0];
  if (extra !== undefined) throw new UsageError(`${name} takes no argument "${extra}"; see --help`);
  return command;
}

function readScopes(list: string | undefined): Scope[] {
  if (list === undefined) return [...allScopes];
  const scopes = list.split(',').map((scope) => scope.trim());
  const unknown = scopes.find((scope) => !isScope(scope));
  if (unknown !== undefined) {
    throw new UsageError(`there is no scope "${unknown}"; --scopes takes ${allScopes.join(',')}`);
  }
  return [...new Set(scopes)] as Scope[];
}

function readLocations(list: string): number[] {
  const ids = list.split(',').map((text) => (/^ *[1-9]\d{0,15} *$/.test(text) ? Number(text) : Number.NaN));
  if (!ids.every(Number.isSafeInteger)) {
    throw new UsageError(`--locations takes ids such as 1,2, not "${list}"`);
  }
  return [...new Set(ids)];
}

/** A grant on a location that is not there yet would one day let in more than anybody meant. */
async function requireLocations(database: Database, account: string, ids: number[]): Promise<void> {
  if (ids.length === 0) return;
  const rows = await database
    .selectFrom('location')
    .innerJoin('account', 'account.account_id', 'location.account_id')
    .select('location_id')
    .where('account.name', '=', account)
    .where(sql<boolean>`location_id = any (${ids})`)
    .execute();
  const missing = ids.find((id) => !rows.some((row) => row.location_id === id));
  if (missing === undefined) return;
  throw new Error(`account ${account} has no location ${missing}: create it first, or leave out --locations`);
}

/** The service's own server when it runs on the embedded default, else one started for this command. */
async function withDatabase(config: Config, work: (database: Database) => Promise<void>): Promise<void> {
  const running = config.databaseUrl ? undefined : await runningEmbedded(config.dataDir);
  const started = config.databaseUrl || running ? undefined : await startEmbedded(config.dataDir);
  const connection: pg.PoolConfig = running ??
    started?.connection ?? { connectionString: config.databaseUrl as string };
  const database = openDatabase(connection, { max: 1 });
  try {
    await requireServer(database);
    await work(database);
  } finally {
    await database.destroy();
    await started?.stop();
  }
}
