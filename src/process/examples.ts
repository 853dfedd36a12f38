import { readFile } from 'node:fs/promises';
import type { components } from '../../generated/api.ts';
import type { Client } from '../accounts/client.ts';
import type { Database } from '../db/database.ts';
import type { Caller } from '../http/caller.ts';
import type { Call } from '../http/handler.ts';
import { createLocation } from '../locations/create-location.ts';
import { importMenu } from '../menus/content/import-menu.ts';
import { readDocument } from '../menus/content/read-document.ts';
import { createMenu } from '../menus/create-menu.ts';

type Schemas = components['schemas'];

/** A location of examples/locations.json, with its menus in their order. */
export interface ExampleLocation {
  location: Schemas['LocationCreate'];
  menus: ExampleMenu[];
}

/** A menu of examples/menus/: what createMenu takes, and the document as importMenu takes it. */
export interface ExampleMenu {
  menu: Omit<Schemas['MenuCreate'], 'location_id'>;
  content: Schemas['MenuContent'];
  body: Schemas['MenuDocument'] | string;
  bodyType: 'application/json' | 'text/csv';
}

/** Reads the locations and menus of a restaurant group that does not exist; its streets and numbers do not either. */
export async function readExamples(): Promise<ExampleLocation[]> {
  const locations: (Schemas['LocationCreate'] & { menus: MenuFile[] })[] = JSON.parse(
    await readText('locations.json'),
  );
  return Promise.all(
    locations.map(async ({ menus, ...location }) => ({
      location,
      menus: await Promise.all(menus.map(readMenu)),
    })),
  );
}

/** Fills the client's account by the very operations that it could call. */
export async function importExamples(transaction: Database, client: Client): Promise<void> {
  const caller: Caller = {
    accountId: client.account_id,
    clientId: client.client_id,
    scopes: new Set(client.scopes),
    locationIds: client.location_ids,
  };
  // As much of a call as these operations look at.
  const call = { database: transaction, caller, requestId: 'load-demo' };
  for (const { location, menus } of await readExamples()) {
    const { headers } = await createLocation({ ...call, body: location } as Call<'createLocation'>);
    const location_id = idIn(headers.Location);
    for (const { menu, body, bodyType } of menus) {
      const created = await createMenu({ ...call, body: { location_id, ...menu } } as Call<'createMenu'>);
      const params = { menu_id: idIn(created.headers.Location) };
      const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
      const parts = { params, query: {}, headers: {}, body: bytes, bodyType };
      await importMenu({ ...call, ...parts } as Call<'importMenu'>);
    }
  }
}

/** A menu of examples/locations.json; with the hours of one whose file is CSV, which has none. */
interface MenuFile extends Pick<Schemas['MenuCreate'], 'hours'> {
  external_id: string;
  file: string;
}

async function readMenu({ external_id, file, hours }: MenuFile): Promise<ExampleMenu> {
  const text = await readText(file);
  const bodyType = file.endsWith('.csv') ? 'text/csv' : 'application/json';
  const body = bodyType === 'text/csv' ? text : JSON.parse(text);
  const { content } = readDocument(Buffer.from(text), bodyType);
  const { name = external_id, description = '', is_active = true, hours: own = hours ?? null } = content;
  return {
    menu: { external_id, name, description, is_active, hours: own },
    content,
    body,
    bodyType,
  };
}

function readText(file: string): Promise<string> {
  return readFile(new URL(`../../examples/${file}`, import.meta.url), 'utf8');
}

function idIn(path: string): number {
  return Number(path.split('/').at(-1));
}
