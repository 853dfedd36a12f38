import { randomUUID } from 'node:crypto';
import createClient from 'openapi-fetch';
import type { components, paths } from './generated.js';

type Problem = components['schemas']['Error'];

const baseUrl = setting('API_URL');
const token = await getToken();
const api = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });

const menu = await firstMenu();
const path = { menu_id: menu.menu_id, item_id: firstItem(menu).item_id };
await changePrice();
await toggleTwice();
await clearPhoto();
await readMissingItem();
await sendFaultyChange();
await readPages();
await readEvents();
await registerWebhook();

async function getToken(): Promise<string> {
  const { data, error } = await createClient<paths>({ baseUrl }).POST('/oauth/token', {
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: {
      grant_type: 'client_credentials',
      client_id: setting('CLIENT_ID'),
      client_secret: setting('CLIENT_SECRET'),
    },
  });
  if (!data) throw new Error(`no token: ${'error' in error ? error.error_description : error.detail}`);
  console.log(`token ${data.token_type} for ${data.expires_in} s`);
  return data.access_token;
}

async function firstMenu(): Promise<components['schemas']['MenuDetail']> {
  const { data: menus } = given(await api.GET('/menus'));
  const [first] = menus;
  if (!first) throw new Error('there is no menu');
  console.log(`menus ${menus.length} first ${first.name}`);
  const { data: whole } = given(
    await api.GET('/menus/{menu_id}', { params: { path: { menu_id: first.menu_id } } }),
  );
  const items = whole.categories.flatMap((category) => category.items);
  console.log(`menu ${whole.menu_id} categories ${whole.categories.length} items ${items.length}`);
  return whole;
}

function firstItem({ categories }: components['schemas']['MenuDetail']): components['schemas']['Item'] {
  const item = categories[0]?.items[0];
  if (!item) throw new Error('there is no item');
  return item;
}

async function changePrice(): Promise<void> {
  const { data: item } = given(
    await api.PUT('/menus/{menu_id}/items/{item_id}', { params: { path }, body: { price: 12.5 } }),
  );
  console.log(`updated item ${item.item_id} price ${item.price.toFixed(2)} version ${item.version}`);
}

async function toggleTwice(): Promise<void> {
  const params = { path, header: { 'Idempotency-Key': randomUUID() } };
  const toggle = () => api.POST('/menus/{menu_id}/items/{item_id}/toggle', { params });
  const { data: item } = given(await toggle());
  const { data: again } = given(await toggle());
  const replayed = JSON.stringify(item) === JSON.stringify(again) ? 'same' : 'different';
  console.log(
    `toggled item ${item.item_id} available ${item.is_available} version ${item.version} replayed ${replayed}`,
  );
}

async function clearPhoto(): Promise<void> {
  const { data: item } = given(
    await api.PUT('/menus/{menu_id}/items/{item_id}', { params: { path }, body: { photo_url: null } }),
  );
  console.log(`cleared item ${item.item_id} photo ${item.photo_url} version ${item.version}`);
}

async function readMissingItem(): Promise<void> {
  const { error } = await api.GET('/menus/{menu_id}/items/{item_id}', {
    params: { path: { ...path, item_id: 999_999_999 } },
  });
  if (!error) throw new Error('there is an item 999999999');
  console.log(`${error.status} ${error.code} ${error.title}`);
}

async function sendFaultyChange(): Promise<void> {
  const { error } = await api.PUT('/menus/{menu_id}/items/{item_id}', {
    params: { path },
    body: { name: '', price: -1 },
  });
  if (!error) throw new Error('the change was accepted');
  const faults = (error.errors ?? []).map(({ field, code }) => `${field} ${code}`);
  console.log(`${error.status} ${error.code} ${faults.join(', ')}`);
}

async function readPages(): Promise<void> {
  let pages = 0;
  let items = 0;
  let cursor: string | null = null;
  do {
    const query: { limit: number; cursor?: string } = { limit: 20, ...(cursor !== null && { cursor }) };
    const page: components['schemas']['ItemList'] = given(
      await api.GET('/menus/{menu_id}/items', { params: { path: { menu_id: menu.menu_id }, query } }),
    );
    pages += 1;
    items += page.data.length;
    cursor = page.next_cursor;
  } while (cursor !== null);
  console.log(`pages ${pages} items ${items}`);
}

async function readEvents(): Promise<void> {
  const { data: events } = given(
    await api.GET('/events', { params: { query: { type: ['item.updated', 'item.toggled'] } } }),
  );
  const said = events.flatMap((event) => {
    switch (event.type) {
      case 'item.updated':
        return `item.updated ${event.data.item_id} version ${event.data.version}`;
      case 'item.toggled':
        return `item.toggled ${event.data.item_id} available ${event.data.is_available}`;
      default:
        return [];
    }
  });
  console.log(`events ${said.join(', ')}`);
}

async function registerWebhook(): Promise<void> {
  const { data: webhook } = given(
    await api.POST('/webhooks', {
      body: { url: setting('WEBHOOK_URL'), event_types: ['item.*', 'menu.toggled'] },
    }),
  );
  console.log(`webhook ${webhook.webhook_id} events ${webhook.event_types.join(',')}`);
}

/** What was asked for. @throws the problem that came in its place */
function given<T>({ data, error }: { data?: T; error?: Problem }): T {
  if (data === undefined) throw new Error(error?.detail ?? 'no response');
  return data;
}

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
}
