import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { client } from './generated/client.gen.js';
import {
  createItem,
  createModifierGroup,
  createWebhook,
  getAvailability,
  getCurrentClient,
  getItem,
  getItemById,
  getMenu,
  type Hours,
  type Item,
  type ItemAvailability,
  type ItemList,
  type ItemSelection,
  issueToken,
  type Location,
  listEvents,
  listItems,
  listLocations,
  listMenus,
  type MenuDetail,
  type ModifierGroup,
  type ModifierGroupCreate,
  priceSelection as price,
  revokeToken as revoke,
  searchItems,
  setItemModifierGroups,
  setLocationAvailability,
  setModifierModifierGroups,
  toggleItem,
  toggleModifier,
  type UpdateItemErrors,
  type UpdateItemResponses,
  updateItem,
  updateMenu,
} from './generated/index.js';

client.setConfig({ baseUrl: setting('API_URL') });
const token = await getToken();
client.setConfig({ auth: token });

await readClient();
const { location_id } = await readLocation();
const menu = await firstMenu();
const item = firstItem(menu);
const path = { menu_id: menu.menu_id, item_id: item.item_id };
await changePrice();
await toggleTwice();
await clearPhoto();
const sushi = await writeItem();
await readMissingItem();
await sendFaultyChange();
await readPages();
await findItems();
await setAvailability();
const offered = await offerModifiers();
await setHours();
await priceSelections();
await readAvailability();
await readChanges();
await readEvents();
await registerWebhook();
await revokeToken();

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

async function readClient(): Promise<void> {
  const { data: current } = (await getCurrentClient({ throwOnError: true })).data;
  console.log(`client ${current.client_id} scopes ${current.scopes} locations ${current.location_ids}`);
}

async function readLocation(): Promise<Location> {
  const { data: locations } = (await listLocations({ throwOnError: true })).data;
  const [location] = locations;
  if (!location) throw new Error('there is no location');
  console.log(
    `location ${location.location_id} ${location.name} address ${location.address?.line1 ?? 'null'}`,
  );
  return location;
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

async function writeItem(): Promise<Item> {
  const body = {
    category_id: item.category_id,
    name: '🍣 𠮷',
    price: 0.07,
    external_id: 'SUSHI-1',
    unavailable_until: '2030-01-02T02:00:00Z',
  };
  const { data: created } = (await createItem({ path: { menu_id: menu.menu_id }, body, throwOnError: true }))
    .data;
  const until = Date.parse(created.unavailable_until ?? '') / 1_000;
  console.log(
    `wrote item ${created.item_id} ${created.name} price ${created.price.toFixed(2)} until ${until}`,
  );
  const { data: raised } = (
    await updateItem({
      path: { menu_id: menu.menu_id, item_id: created.item_id },
      body: { price: 4.35 },
      throwOnError: true,
    })
  ).data;
  console.log(`raised item ${raised.item_id} price ${raised.price.toFixed(2)} version ${raised.version}`);
  return raised;
}

async function readMissingItem(): Promise<void> {
  const { error } = await getItem({ path: { ...path, item_id: 999_999_999 } });
  if (!error) throw new Error('there is an item 999999999');
  console.log(`${error.status} ${error.code} ${error.title}`);
}

async function sendFaultyChange(): Promise<void> {
  // updateItem would refuse this body itself, by its zod schema.
  const { error } = await client.put<UpdateItemResponses, UpdateItemErrors>({
    url: '/menus/{menu_id}/items/{item_id}',
    path,
    body: { name: '', price: -1 },
    headers: { 'Content-Type': 'application/json' },
    security: [{ scheme: 'bearer', type: 'http' }],
  });
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

async function findItems(): Promise<void> {
  const external_id = [item, sushi].flatMap(({ external_id }) => external_id ?? []);
  const { data: items } = (await searchItems({ query: { external_id }, throwOnError: true })).data;
  console.log(`found items ${items.map(({ item_id }) => item_id).join(', ')}`);
  const { data: found } = (await getItemById({ path: { item_id: sushi.item_id }, throwOnError: true })).data;
  console.log(`item ${found.item_id} external ${found.external_id} menu ${found.menu_id}`);
}

async function setAvailability(): Promise<void> {
  const { data: results } = (
    await setLocationAvailability({
      path: { location_id },
      body: {
        items: [
          { external_id: 'SUSHI-1', is_available: true },
          { external_id: 'SUSHI-2', is_available: false },
        ],
      },
      throwOnError: true,
    })
  ).data;
  const said = results.map(({ item, external_id, result }) =>
    item ? `${item.item_id} ${result} available ${item.is_available}` : `${external_id} ${result}`,
  );
  console.log(`set ${said.join(', ')}`);
}

async function offerModifiers() {
  const extras = await createGroup({ name: 'Extras', modifiers: [{ name: 'Egg', price: 0.07 }] });
  const size = await createGroup({
    name: 'Size',
    min_selections: 1,
    max_selections: 1,
    modifiers: [
      { name: 'Small', price: 0 },
      { name: 'Large', price: 1.5 },
    ],
  });
  const [egg] = extras.modifiers;
  const [small, large] = size.modifiers;
  if (!egg || !small || !large) throw new Error('modifiers are missing');
  const { modifier_group_id } = size;
  const { data: modifier } = (
    await setModifierModifierGroups({
      path: { location_id, modifier_group_id, modifier_id: large.modifier_id },
      body: { modifier_groups: [{ modifier_group_id: extras.modifier_group_id }] },
      throwOnError: true,
    })
  ).data;
  console.log(
    `modifier ${modifier.modifier_id} offers group ${modifier.modifier_groups[0]?.modifier_group_id}`,
  );
  const { data: offering } = (
    await setItemModifierGroups({
      path: { menu_id: sushi.menu_id, item_id: sushi.item_id },
      body: { modifier_groups: [{ modifier_group_id }] },
      throwOnError: true,
    })
  ).data;
  console.log(
    `item ${offering.item_id} offers group ${offering.modifier_groups[0]?.modifier_group_id} version ${offering.version}`,
  );
  const { data: toggled } = (
    await toggleModifier({
      path: { location_id, modifier_group_id, modifier_id: small.modifier_id },
      throwOnError: true,
    })
  ).data;
  console.log(
    `toggled modifier ${toggled.modifier_id} available ${toggled.is_available} version ${toggled.version}`,
  );
  return { egg, small, large };
}

async function createGroup(body: ModifierGroupCreate): Promise<ModifierGroup> {
  const { data: group } = (await createModifierGroup({ path: { location_id }, body, throwOnError: true }))
    .data;
  const modifiers = group.modifiers.map(({ name, price }) => `${name} ${price.toFixed(2)}`);
  console.log(
    `group ${group.modifier_group_id} ${group.name} min ${group.min_selections} max ${group.max_selections}: ${modifiers.join(', ')}`,
  );
  return group;
}

async function priceSelections(): Promise<void> {
  const { egg, small, large } = offered;
  const withEgg = { modifier_id: large.modifier_id, selections: [{ modifier_id: egg.modifier_id }] };
  await priceSelection({ quantity: 2, selections: [withEgg] });
  await priceSelection({ selections: [{ modifier_id: small.modifier_id }] });
}

async function priceSelection(selection: ItemSelection): Promise<void> {
  const { data: priced } = (
    await price({
      path: { menu_id: sushi.menu_id, item_id: sushi.item_id },
      body: { ...selection, at: '2030-01-05T23:30' },
      throwOnError: true,
    })
  ).data;
  const said = [
    ...priced.lines.map(({ pointer, name, total_price }) => `${pointer} ${name} ${total_price.toFixed(2)}`),
    ...priced.problems.map(({ pointer, code }) => `${pointer} ${code}`),
  ];
  console.log(
    `price of item ${priced.item_id} ${priced.unit_price.toFixed(2)} total ${priced.total_price.toFixed(2)} ${priced.currency} orderable ${priced.is_orderable}: ${said.join(', ')}`,
  );
}

async function setHours(): Promise<void> {
  const { data: timed } = (
    await updateMenu({
      path: { menu_id: menu.menu_id },
      body: {
        hours: {
          weekly: [{ days: ['fri', 'sat'], from: '22:00', minutes: 240 }],
          dates: [{ date: '2030-01-04', windows: [] }],
        },
      },
      throwOnError: true,
    })
  ).data;
  const closed = timed.hours?.dates.filter(({ windows }) => windows.length === 0).map(({ date }) => date);
  console.log(`hours of menu ${timed.menu_id} ${windowOf(timed.hours)}, ${closed} closed`);
  const { data: late } = (
    await updateItem({
      path: { menu_id: sushi.menu_id, item_id: sushi.item_id },
      body: { hours: { weekly: [{ days: ['sat'], from: '23:00', minutes: 60 }] } },
      throwOnError: true,
    })
  ).data;
  console.log(`hours of item ${late.item_id} ${windowOf(late.hours)}`);
}

function windowOf(hours: Hours | null): string {
  const window = hours?.weekly[0];
  return `${window?.days} ${window?.from} for ${window?.minutes} min`;
}

async function readAvailability(): Promise<void> {
  const { data: availability } = (
    await getAvailability({
      path: { menu_id: menu.menu_id },
      query: { at: '2030-01-05T22:30' },
      throwOnError: true,
    })
  ).data;
  const [off, late] = [item, sushi].map(({ item_id }) =>
    availability.items.find((one) => one.item_id === item_id),
  );
  const codes = (of?: ItemAvailability) => of?.reasons.map(({ code }) => code).join('+');
  const until = Date.parse(late?.next_change_at ?? '') / 1_000;
  console.log(
    [
      `orderable menu ${availability.menu_id} ${availability.is_orderable}`,
      `item ${off?.item_id} ${codes(off)} by ${off?.reasons[0]?.unavailable_by}`,
      `item ${late?.item_id} ${codes(late)} until ${until}`,
    ].join(', '),
  );
}

async function readChanges(): Promise<void> {
  const since = async (updated_since: string) =>
    (await listMenus({ query: { updated_since }, throwOnError: true })).data.data.length;
  const [changed, later] = [await since('2020-01-01T00:00:00Z'), await since('2099-01-01T00:00:00Z')];
  console.log(`changed menus ${changed} since 2020, ${later} since 2099`);
}

async function readEvents(): Promise<void> {
  const query = { type: ['item.updated' as const, 'item.toggled' as const] };
  const { data: events } = await eventually(
    async () => (await listEvents({ query, throwOnError: true })).data,
    ({ data }) => data.length >= 7,
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
  const { data: feed } = (await listEvents({ query: { limit: 200 }, throwOnError: true })).data;
  console.log(`feed ${feed.length}`);
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

async function revokeToken(): Promise<void> {
  await revoke({
    body: { token, client_id: setting('CLIENT_ID'), client_secret: setting('CLIENT_SECRET') },
    throwOnError: true,
  });
  const { error } = await eventually(
    () => getCurrentClient(),
    ({ response }) => response?.status === 401,
  );
  console.log(`revoked ${error?.status} ${error?.code}`);
}

/** Repeats a call until its answer is as wanted: events and revocations take a moment. */
async function eventually<T>(call: () => Promise<T>, wanted: (answer: T) => boolean): Promise<T> {
  for (let tries = 0; tries < 200; tries += 1) {
    const answer = await call();
    if (wanted(answer)) return answer;
    await setTimeout(50);
  }
  throw new Error('the answer is not as wanted after ten seconds');
}

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
}
