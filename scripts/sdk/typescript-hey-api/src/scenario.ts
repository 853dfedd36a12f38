import { randomUUID } from 'node:crypto';
import { client } from './generated/client.gen.js';
import {
  createWebhook,
  getItem,
  getMenu,
  type Item,
  type ItemList,
  issueToken,
  listEvents,
  listItems,
  listMenus,
  type MenuDetail,
  toggleItem,
  updateItem,
} from './generated/index.js';

client.setConfig({ baseUrl: setting('API_URL') });
const token = await getToken();
client.setConfig({ auth: token });

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
  const { data, error } = await issueToken({
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

async function firstMenu(): Promise<MenuDetail> {
  const { data: menus } = (await listMenus({ throwOnError: true })).data;
  const [first] = menus;
  if (!first) throw new Error('there is no menu');
  console.log(`menus ${menus.length} first ${first.name}`);
  const { data: whole } = (await getMenu({ path: { menu_id: first.menu_id }, throwOnError: true })).data;
  const items = whole.categories.flatMap((category) => category.items);
  console.log(`menu ${whole.menu_id} categories ${whole.categories.length} items ${items.length}`);
  return whole;
}

function firstItem({ categories }: MenuDetail): Item {
  const item = categories[0]?.items[0];
  if (!item) throw new Error('there is no item');
  return item;
}

async function changePrice(): Promise<void> {
  const { data: item } = (await updateItem({ path, body: { price: 12.5 }, throwOnError: true })).data;
  console.log(`updated item ${item.item_id} price ${item.price.toFixed(2)} version ${item.version}`);
}

async function toggleTwice(): Promise<void> {
  const call = { path, headers: { 'Idempotency-Key': randomUUID() }, throwOnError: true } as const;
  const { data: item } = (await toggleItem(call)).data;
  const { data: again } = (await toggleItem(call)).data;
  const replayed = JSON.stringify(item) === JSON.stringify(again) ? 'same' : 'different';
  console.log(
    `toggled item ${item.item_id} available ${item.is_available} version ${item.version} replayed ${replayed}`,
  );
}

async function clearPhoto(): Promise<void> {
  const { data: item } = (await updateItem({ path, body: { photo_url: null }, throwOnError: true })).data;
  console.log(`cleared item ${item.item_id} photo ${item.photo_url} version ${item.version}`);
}

async function readMissingItem(): Promise<void> {
  const { error } = await getItem({ path: { ...path, item_id: 999_999_999 } });
  if (!error) throw new Error('there is an item 999999999');
  console.log(`${error.status} ${error.code} ${error.title}`);
}

async function sendFaultyChange(): Promise<void> {
  const { error } = await updateItem({ path, body: { name: '', price: -1 } });
  if (!error) throw new Error('the change was accepted');
  const faults = (error.errors ?? []).map(({ field, code }) => `${field} ${code}`);
  console.log(`${error.status} ${error.code} ${faults.join(', ')}`);
}

async function readPages(): Promise<void> {
  const items: Item[] = [];
  let pages = 0;
  let cursor: string | null = null;
  do {
    const page: ItemList = (
      await listItems({
        path: { menu_id: menu.menu_id },
        query: { limit: 20, ...(cursor !== null && { cursor }) },
        throwOnError: true,
      })
    ).data;
    pages += 1;
    items.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor !== null);
  console.log(`pages ${pages} items ${items.length}`);
}

async function readEvents(): Promise<void> {
  const { data: events } = (
    await listEvents({ query: { type: ['item.updated', 'item.toggled'] }, throwOnError: true })
  ).data;
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
  const { data: webhook } = (
    await createWebhook({
      body: { url: setting('WEBHOOK_URL'), event_types: ['item.*', 'menu.toggled'] },
      throwOnError: true,
    })
  ).data;
  console.log(`webhook ${webhook.webhook_id} events ${webhook.event_types.join(',')}`);
}

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
}
