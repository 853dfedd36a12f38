import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import createClient from 'openapi-fetch';
import type { components, paths } from './generated.js';

type Schemas = components['schemas'];
type Problem = Schemas['Error'];

const baseUrl = setting('API_URL');
const token = await getToken();
const api = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });

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

async function readClient(): Promise<void> {
  const { data: client } = given(await api.GET('/oauth/client'));
  console.log(`client ${client.client_id} scopes ${client.scopes} locations ${client.location_ids}`);
}

async function readLocation(): Promise<Schemas['Location']> {
  const { data: locations } = given(await api.GET('/locations'));
  const [location] = locations;
  if (!location) throw new Error('there is no location');
  console.log(
    `location ${location.location_id} ${location.name} address ${location.address?.line1 ?? 'null'}`,
  );
  return location;
}

async function firstMenu(): Promise<Schemas['MenuDetail']> {
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

function firstItem({ categories }: Schemas['MenuDetail']): Schemas['Item'] {
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

async function writeItem(): Promise<Schemas['Item']> {
  const body = {
    category_id: item.category_id,
    name: '🍣 𠮷',
    price: 0.07,
    external_id: 'SUSHI-1',
    unavailable_until: '2030-01-02T02:00:00Z',
  };
  const { data: created } = given(
    await api.POST('/menus/{menu_id}/items', { params: { path: { menu_id: menu.menu_id } }, body }),
  );
  const until = Date.parse(created.unavailable_until ?? '') / 1_000;
  console.log(
    `wrote item ${created.item_id} ${created.name} price ${created.price.toFixed(2)} until ${until}`,
  );
  const { data: raised } = given(
    await api.PUT('/menus/{menu_id}/items/{item_id}', {
      params: { path: { menu_id: menu.menu_id, item_id: created.item_id } },
      body: { price: 4.35 },
    }),
  );
  console.log(`raised item ${raised.item_id} price ${raised.price.toFixed(2)} version ${raised.version}`);
  return raised;
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
    const page: Schemas['ItemList'] = given(
      await api.GET('/menus/{menu_id}/items', { params: { path: { menu_id: menu.menu_id }, query } }),
    );
    pages += 1;
    items += page.data.length;
    cursor = page.next_cursor;
  } while (cursor !== null);
  console.log(`pages ${pages} items ${items}`);
}

async function findItems(): Promise<void> {
  const external_id = [item, sushi].flatMap(({ external_id }) => external_id ?? []);
  const { data: items } = given(await api.GET('/items', { params: { query: { external_id } } }));
  console.log(`found items ${items.map(({ item_id }) => item_id).join(', ')}`);
  const { data: found } = given(
    await api.GET('/items/{item_id}', { params: { path: { item_id: sushi.item_id } } }),
  );
  console.log(`item ${found.item_id} external ${found.external_id} menu ${found.menu_id}`);
}

async function setAvailability(): Promise<void> {
  const { data: results } = given(
    await api.POST('/locations/{location_id}/availability', {
      params: { path: { location_id } },
      body: {
        items: [
          { external_id: 'SUSHI-1', is_available: true },
          { external_id: 'SUSHI-2', is_available: false },
        ],
      },
    }),
  );
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
  const { data: modifier } = given(
    await api.PUT(
      '/locations/{location_id}/modifier-groups/{modifier_group_id}/modifiers/{modifier_id}/modifier-groups',
      {
        params: { path: { location_id, modifier_group_id, modifier_id: large.modifier_id } },
        body: { modifier_groups: [{ modifier_group_id: extras.modifier_group_id }] },
      },
    ),
  );
  console.log(
    `modifier ${modifier.modifier_id} offers group ${modifier.modifier_groups[0]?.modifier_group_id}`,
  );
  const { data: offering } = given(
    await api.PUT('/menus/{menu_id}/items/{item_id}/modifier-groups', {
      params: { path: { menu_id: sushi.menu_id, item_id: sushi.item_id } },
      body: { modifier_groups: [{ modifier_group_id }] },
    }),
  );
  console.log(
    `item ${offering.item_id} offers group ${offering.modifier_groups[0]?.modifier_group_id} version ${offering.version}`,
  );
  const { data: toggled } = given(
    await api.POST(
      '/locations/{location_id}/modifier-groups/{modifier_group_id}/modifiers/{modifier_id}/toggle',
      { params: { path: { location_id, modifier_group_id, modifier_id: small.modifier_id } } },
    ),
  );
  console.log(
    `toggled modifier ${toggled.modifier_id} available ${toggled.is_available} version ${toggled.version}`,
  );
  return { egg, small, large };
}

async function createGroup(body: Schemas['ModifierGroupCreate']): Promise<Schemas['ModifierGroup']> {
  const { data: group } = given(
    await api.POST('/locations/{location_id}/modifier-groups', { params: { path: { location_id } }, body }),
  );
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

async function priceSelection(selection: Schemas['ItemSelection']): Promise<void> {
  const { data: price } = given(
    await api.POST('/menus/{menu_id}/items/{item_id}/price', {
      params: { path: { menu_id: sushi.menu_id, item_id: sushi.item_id } },
      body: { ...selection, at: '2030-01-05T23:30' },
    }),
  );
  const said = [
    ...price.lines.map(({ pointer, name, total_price }) => `${pointer} ${name} ${total_price.toFixed(2)}`),
    ...price.problems.map(({ pointer, code }) => `${pointer} ${code}`),
  ];
  console.log(
    `price of item ${price.item_id} ${price.unit_price.toFixed(2)} total ${price.total_price.toFixed(2)} ${price.currency} orderable ${price.is_orderable}: ${said.join(', ')}`,
  );
}

async function setHours(): Promise<void> {
  const { data: timed } = given(
    await api.PUT('/menus/{menu_id}', {
      params: { path: { menu_id: menu.menu_id } },
      body: {
        hours: {
          weekly: [{ days: ['fri', 'sat'], from: '22:00', minutes: 240 }],
          dates: [{ date: '2030-01-04', windows: [] }],
        },
      },
    }),
  );
  const closed = timed.hours?.dates.filter(({ windows }) => windows.length === 0).map(({ date }) => date);
  console.log(`hours of menu ${timed.menu_id} ${windowOf(timed.hours)}, ${closed} closed`);
  const { data: late } = given(
    await api.PUT('/menus/{menu_id}/items/{item_id}', {
      params: { path: { menu_id: sushi.menu_id, item_id: sushi.item_id } },
      body: { hours: { weekly: [{ days: ['sat'], from: '23:00', minutes: 60 }] } },
    }),
  );
  console.log(`hours of item ${late.item_id} ${windowOf(late.hours)}`);
}

function windowOf(hours: Schemas['Hours'] | null): string {
  const window = hours?.weekly[0];
  return `${window?.days} ${window?.from} for ${window?.minutes} min`;
}

async function readAvailability(): Promise<void> {
  const { data: availability } = given(
    await api.GET('/menus/{menu_id}/availability', {
      params: { path: { menu_id: menu.menu_id }, query: { at: '2030-01-05T22:30' } },
    }),
  );
  const [off, late] = [item, sushi].map(({ item_id }) =>
    availability.items.find((one) => one.item_id === item_id),
  );
  const codes = (of?: Schemas['ItemAvailability']) => of?.reasons.map(({ code }) => code).join('+');
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
    given(await api.GET('/menus', { params: { query: { updated_since } } })).data.length;
  const [changed, later] = [await since('2020-01-01T00:00:00Z'), await since('2099-01-01T00:00:00Z')];
  console.log(`changed menus ${changed} since 2020, ${later} since 2099`);
}

async function readEvents(): Promise<void> {
  const query = { type: ['item.updated' as const, 'item.toggled' as const] };
  const { data: events } = await eventually(
    async () => given(await api.GET('/events', { params: { query } })),
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
  const { data: feed } = given(await api.GET('/events', { params: { query: { limit: 200 } } }));
  console.log(`feed ${feed.length}`);
}

async function registerWebhook(): Promise<void> {
  const { data: webhook } = given(
    await api.POST('/webhooks', {
      body: { url: setting('WEBHOOK_URL'), event_types: ['item.*', 'menu.toggled'] },
    }),
  );
  console.log(`webhook ${webhook.webhook_id} events ${webhook.event_types.join(',')}`);
}

async function revokeToken(): Promise<void> {
  await createClient<paths>({ baseUrl }).POST('/oauth/revoke', {
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: { token, client_id: setting('CLIENT_ID'), client_secret: setting('CLIENT_SECRET') },
  });
  const { error } = await eventually(
    () => api.GET('/oauth/client'),
    ({ response }) => response.status === 401,
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
