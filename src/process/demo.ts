import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql, type Transaction } from 'kysely';
import type { DB } from '../../generated/database.ts';
import { createClientAuthentication } from '../accounts/authenticate-client.ts';
import { createClient } from '../accounts/client.ts';
import type { Database } from '../db/database.ts';
import { allScopes } from '../http/scopes.ts';

/** Credentials of the demo account, and one of its menus and items to try. */
export interface DemoClient {
  client_id: string;
  client_secret: string;
  menu_id: number;
  item_id: number;
}

/** Where the credentials are kept, below DATA_DIR. */
export const demoClientFile = 'demo-client.json';

const account = 'Demo';

/**
 * Loads the demo account and creates a client for it, in one transaction.
 * @param ifEmpty do nothing unless the database holds no account.
 * @param keepIn directory where the credentials are kept, so that a later start can show them again.
 * @returns the client, or the kept one, or undefined when there is nothing to show.
 */
export async function loadDemo(
  database: Database,
  { ifEmpty, keepIn }: { ifEmpty: boolean; keepIn?: string },
): Promise<DemoClient | undefined> {
  const file = keepIn && join(keepIn, demoClientFile);
  return database.transaction().execute(async (transaction) => {
    // Of services that start together on an empty database, one loads.
    await sql`lock table account in share row exclusive mode`.execute(transaction);
    if (ifEmpty && (await holdsAccount(transaction))) return file ? keptClient(transaction, file) : undefined;
    const client = await createClient(transaction, { account, scopes: [...allScopes], locationIds: null });
    // Loaded only here: an admin command that imports no menu then starts in seven tenths of the time.
    const { importExamples } = await import('./examples.ts');
    await importExamples(transaction, client);
    const { client_id, client_secret, account_id } = client;
    const demo = { client_id, client_secret, ...(await firstItem(transaction, account_id)) };
    // Before the commit: a start that is killed in between leaves an empty database, which is loaded again.
    if (file) await writeFile(file, JSON.stringify(demo), { mode: 0o600 });
    return demo;
  });
}

async function holdsAccount(database: Database): Promise<boolean> {
  return (await database.selectFrom('account').select('account_id').limit(1).execute()).length > 0;
}

async function keptClient(database: Database, file: string): Promise<DemoClient | undefined> {
  const demo = await readFile(file, 'utf8')
    .then(JSON.parse)
    .catch(() => undefined);
  const isValid = demo && (await createClientAuthentication(database)(demo.client_id, demo.client_secret));
  return isValid && demo;
}

function firstItem(
  transaction: Transaction<DB>,
  account_id: number,
): Promise<{ menu_id: number; item_id: number }> {
  return transaction
    .selectFrom('item')
    .select(['menu_id', 'item_id'])
    .where('account_id', '=', account_id)
    .orderBy('item_id')
    .limit(1)
    .executeTakeFirstOrThrow();
}
