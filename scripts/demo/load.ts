import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql, type Transaction } from 'kysely';
import type { DB } from '../../generated/database.ts';
import { createClient, findClient } from '../../src/accounts/client.ts';
import { allScopes } from '../../src/accounts/scopes.ts';
import type { Database } from '../../src/db/database.ts';
import { type DemoCategory, type DemoLocation, type DemoMenu, demoLocations } from './data.ts';

/** Credentials of the demo account, and a menu and item of it to try. */
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
 * Loads the demo account and makes a client for it, in one transaction.
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
    const { client_id, client_secret, account_id } = await createClient(transaction, {
      account,
      scopes: [...allScopes],
      locationIds: null,
    });
    const demo = { client_id, client_secret, ...(await insertMenus(transaction, account_id)) };
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
  return demo && (await findClient(database, demo.client_id)) && demo;
}

async function insertMenus(
  transaction: Transaction<DB>,
  account_id: number,
): Promise<{ menu_id: number; item_id: number }> {
  let first: { menu_id: number; item_id: number } | undefined;
  for (const location of demoLocations) {
    const location_id = await insertLocation(transaction, account_id, location);
    for (const [sort_order, menu] of location.menus.entries()) {
      const inserted = await insertMenu(transaction, { account_id, location_id, sort_order }, menu);
      first ??= inserted;
    }
  }
  if (!first) throw new Error('the demo data holds no menu');
  return first;
}

async function insertLocation(
  transaction: Transaction<DB>,
  account_id: number,
  location: DemoLocation,
): Promise<number> {
  const { menus: _, address, ...fields } = location;
  const { location_id } = await transaction
    .insertInto('location')
    .values({ account_id, ...fields, address: JSON.stringify(address) })
    .returning('location_id')
    .executeTakeFirstOrThrow();
  return location_id;
}

async function insertMenu(
  transaction: Transaction<DB>,
  place: { account_id: number; location_id: number; sort_order: number },
  menu: DemoMenu,
): Promise<{ menu_id: number; item_id: number }> {
  const { categories, ...fields } = menu;
  const { menu_id } = await transaction
    .insertInto('menu')
    .values({ ...place, ...fields })
    .returning('menu_id')
    .executeTakeFirstOrThrow();
  const { account_id, location_id } = place;
  const items: number[] = [];
  for (const [sort_order, category] of categories.entries()) {
    items.push(
      ...(await insertCategory(transaction, { account_id, location_id, menu_id, sort_order }, category)),
    );
  }
  return { menu_id, item_id: Math.min(...items) };
}

async function insertCategory(
  transaction: Transaction<DB>,
  place: { account_id: number; location_id: number; menu_id: number; sort_order: number },
  category: DemoCategory,
): Promise<number[]> {
  const { items, ...fields } = category;
  const { category_id } = await transaction
    .insertInto('category')
    .values({ ...place, ...fields })
    .returning('category_id')
    .executeTakeFirstOrThrow();
  const rows = await transaction
    .insertInto('item')
    .values(
      items.map(({ is_available = true, ...item }, sort_order) => ({
        ...place,
        ...item,
        category_id,
        sort_order,
        is_available,
        allergens: sql`${item.allergens}::text[]`,
        dietary_tags: sql`${item.dietary_tags}::text[]`,
      })) as never,
    )
    .returning('item_id')
    .execute();
  return rows.map((row) => row.item_id);
}
