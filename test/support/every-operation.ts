/*
 * Calls every operation of the contract, on records of its own, for tests that change the surroundings of a service: a
 * role with few rights, another build beside it.
 */
import { randomUUID } from 'node:crypto';
import type { OperationFacts } from '../../generated/operations.ts';
import { type Api, type ApiResponse, type createApi, send } from './api.ts';
import { eventually } from './eventually.ts';

/** A running build: a client of it, and the operations that it has. */
export interface Build {
  api: Api;
  /** A client that holds responses against the contract of this build. */
  createApi: typeof createApi;
  operations: Record<string, Pick<OperationFacts, 'method' | 'path'>>;
  /** What has been called so far. */
  called: Set<string>;
}

// biome-ignore lint/suspicious/noExplicitAny: the contract check has validated it; tests look into it freely
type Resource = any;

/** What the acknowledged writes of a round have left behind. */
export interface Written {
  /** Paths, and what GET returns there as `data`. */
  kept: Map<string, Resource>;
  /** Paths where GET returns 404. */
  gone: string[];
  /** The last acknowledged version of each remaining record ('item:17'). */
  versions: Map<string, number>;
}

/**
 * Calls every operation of one build; reads what it wrote, and repeats keyed calls, at the other.
 * @param endpoint where webhooks of its own lead.
 * @throws when a call fails, or both builds do not show the same.
 */
export async function callEveryOperation(build: Build, other: Build, endpoint: string): Promise<Written> {
  const call = (id: string, ids: Ids = {}, json?: unknown) => callOn(build, id, ids, json);
  const write = async (id: string, ids: Ids, json?: unknown): Promise<Resource> =>
    (await call(id, ids, json)).body?.data;
  const keyed = async (id: string, ids: Ids, json?: unknown): Promise<Resource> => {
    const headers = { 'idempotency-key': randomUUID() };
    const first = await callOn(build, id, ids, json, headers);
    // What only the present build has is repeated there. A replay returns what the first build sent, under its contract.
    const where = other.operations[id] ? other : build;
    const replaying = { ...where, api: build.createApi(where.api.url, build.api.credentials) };
    const again = await callOn(replaying, id, ids, json, headers);
    if (again.status !== first.status || again.text !== first.text || !again.headers['idempotency-replayed'])
      throw new Error(`${id} was not replayed: ${first.text}; then ${again.text}`);
    return first.body.data;
  };
  const since = new Date(Date.now() - 1_000).toISOString();
  const place = { timezone: 'Asia/Tokyo', currency: 'EUR' };

  const location = await keyed('createLocation', {}, { name: 'Sakura', ...place });
  const at = { location_id: location.location_id };
  const scope = { location_ids: [at.location_id] };
  const { webhook_id } = await write('createWebhook', {}, { url: endpoint, ...scope });
  const moved = await write('updateLocation', at, { name: 'Sakura East' });
  const { menu_id } = await keyed('createMenu', {}, { ...at, name: 'Evening' });
  const on = { menu_id };
  await write('updateMenu', on, { description: 'From five' });
  await write('toggleMenu', on);
  const [nigiri, maki] = [
    await write('createCategory', on, { name: 'Nigiri' }),
    await keyed('createCategory', on, { name: 'Maki' }),
  ];
  await write('updateCategory', { ...on, category_id: maki.category_id }, { name: 'Rolls' });
  const items: Resource[] = [];
  for (const [name, { category_id }] of [
    ['Salmon', nigiri],
    ['Tuna', nigiri],
    ['Eel', maki],
    ['Squid', nigiri],
  ] as const)
    items.push(await keyed('createItem', on, { category_id, name, price: 4.5 }));
  const [salmon, tuna, eel, squid] = items.map(({ item_id }) => ({ ...on, item_id: item_id as number }));
  if (!salmon || !tuna || !eel || !squid) throw new Error('an item is missing');
  await write('updateItem', salmon, { price: 5.25 });
  await keyed('toggleItem', salmon);
  await keyed('setAvailability', on, {
    items: [
      { item_id: salmon.item_id, is_available: true },
      { item_id: tuna.item_id, is_available: false, unavailable_until: '2099-01-01T00:00:00.000Z' },
    ],
  });
  await keyed('setLocationAvailability', at, { items: [{ item_id: eel.item_id, is_available: true }] });
  const offered = await useModifierGroups({ write, keyed, call }, at, tuna);
  await write('reorderMenu', on, {
    categories: [
      { category_id: maki.category_id, items: [eel.item_id] },
      { category_id: nigiri.category_id, items: [tuna.item_id, salmon.item_id, squid.item_id] },
    ],
  });
  await call('getAvailability', on);
  // What the previous release does not have yet.
  if (build.operations['priceSelection']) await call('priceSelection', tuna, { quantity: 2 });
  const content = (await call('exportMenu', on)).body.data;
  content.categories[1].items[0].price = 6;
  content.categories[1].items.push({ external_id: 'octopus', name: 'Octopus', price: 3.75 });
  await write('importMenu', on, { data: content });
  await write('deleteItem', squid);
  const rolls = { ...on, category_id: maki.category_id };
  await write('deleteCategory', rolls);

  const closed = await write('createLocation', {}, { name: 'Closed', ...place });
  const dropped = await write('createMenu', {}, { location_id: closed.location_id, name: 'Lunch' });
  await write('deleteMenu', { menu_id: dropped.menu_id });
  await write('deleteLocation', { location_id: closed.location_id });

  const menu = (await call('getMenu', on)).body.data;
  const left: Resource[] = menu.categories.flatMap((one: Resource) => one.items);
  for (const one of [build, other]) {
    const read = async (id: string, ids: Ids = {}) => (await callOn(one, id, ids)).body.data;
    requireSame(await read('getLocation', at), moved);
    requireSame(await read('getMenu', on), menu);
    for (const item of left) requireSame(await read('getItem', { ...on, item_id: item.item_id }), item);
    const known = left[0];
    requireSame(await read('getItemById', { item_id: known.item_id }), known);
    for (const id of ['searchItems', 'getCurrentClient']) await read(id);
    const first = menu.categories[0];
    requireSame(await read('getCategory', { ...on, category_id: first.category_id }), first);
    for (const id of ['listCategories', 'listItems']) await read(id, on);
    for (const id of ['listLocations', 'listMenus', 'listWebhooks', 'listEvents']) await read(id);
  }
  await useWebhook(build, webhook_id, since);

  const path = (id: string, ids: Ids) => pathOf(build, id, ids);
  return {
    kept: new Map([
      [path('getLocation', at), moved],
      [path('getMenu', on), menu],
    ]),
    gone: [
      path('getItem', squid),
      path('getItem', eel),
      path('getCategory', rolls),
      path('getMenu', { menu_id: dropped.menu_id }),
      path('getLocation', { location_id: closed.location_id }),
      path('getWebhook', { webhook_id }),
    ],
    versions: new Map<string, number>([
      [`location:${at.location_id}`, moved.version],
      [`menu:${menu_id}`, menu.version],
      ...menu.categories.map((one: Resource) => [`category:${one.category_id}`, one.version] as const),
      ...left.map((one) => [`item:${one.item_id}`, one.version] as const),
      ...offered,
    ]),
  };
}

/** Revokes a token of the client that nothing else uses. @throws when it is refused */
export async function revokeOwnToken({ url, credentials: { client_id, client_secret } }: Api): Promise<void> {
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    authorization: `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`,
  };
  const post = (path: string, form: Record<string, string>) =>
    send(url, 'POST', `/api/v1/oauth/${path}`, headers, new URLSearchParams(form).toString());
  const issued = await post('token', { grant_type: 'client_credentials' });
  const revoked = await post('revoke', { token: issued.body.access_token });
  if (revoked.status !== 200) throw new Error(`revokeToken: ${revoked.status} ${revoked.text}`);
}

/** @throws when the two disagree about a field; either build may have fields that the other lacks. */
export function requireSame(first: Resource, second: Resource, at = ''): void {
  const isNested =
    typeof first === 'object' && first !== null && typeof second === 'object' && second !== null;
  if (!isNested) {
    if (first !== second) throw new Error(`${at}: ${JSON.stringify(first)}, not ${JSON.stringify(second)}`);
    return;
  }
  if (Array.isArray(first) && first.length !== second.length)
    throw new Error(`${at}: ${first.length} entries, not ${second.length}`);
  for (const key of Object.keys(first))
    if (key in second) requireSame(first[key], second[key], `${at}/${key}`);
}

type Ids = Record<string, number | string>;

interface Calls {
  call: (id: string, ids?: Ids, json?: unknown) => Promise<ApiResponse>;
  write: (id: string, ids: Ids, json?: unknown) => Promise<Resource>;
  keyed: (id: string, ids: Ids, json?: unknown) => Promise<Resource>;
}

/**
 * What an item offers in the end is in the menu that is read later.
 * @returns the versions of what is left
 */
async function useModifierGroups(
  { call, write, keyed }: Calls,
  at: Ids,
  item: Ids,
): Promise<[record: string, version: number][]> {
  const modifiers = [{ name: 'Soy sauce' }, { name: 'Ponzu', price: 0.5 }];
  const sauce = await keyed('createModifierGroup', at, { name: 'Sauce', modifiers });
  const extras = await keyed('createModifierGroup', at, { name: 'Extras', modifiers });
  const inSauce = { ...at, modifier_group_id: sauce.modifier_group_id };
  const inExtras = { ...at, modifier_group_id: extras.modifier_group_id };
  const { modifier_id } = await keyed('createModifier', inSauce, { name: 'Sesame' });
  const sesame = { ...inSauce, modifier_id };
  await write('updateModifierGroup', inSauce, { max_selections: 2 });
  await write('updateModifier', sesame, { price: 0.75 });
  await keyed('toggleModifier', sesame);
  await keyed('setModifierAvailability', at, { modifiers: [{ modifier_id, is_available: true }] });
  const use = ({ modifier_group_id }: Ids) => ({ modifier_groups: [{ modifier_group_id }] });
  await write('setItemModifierGroups', item, use(inSauce));
  await write('setModifierModifierGroups', sesame, use(inExtras));
  await call('getModifier', sesame);
  await call('listModifierGroups', at);
  await call('listModifierGroupUses', inSauce);
  await write('deleteModifier', sesame);
  await write('deleteModifierGroup', inExtras);
  const left = (await call('getModifierGroup', inSauce)).body.data;
  return [
    [`modifier_group:${left.modifier_group_id}`, left.version],
    ...left.modifiers.map((one: Resource) => [`modifier:${one.modifier_id}`, one.version] as const),
  ];
}

async function useWebhook(build: Build, webhook_id: number, since: string): Promise<void> {
  const hook = { webhook_id };
  const call = (id: string, ids: Ids = hook, json?: unknown) => callOn(build, id, ids, json);
  await call('updateWebhook', hook, { description: 'Kitchen' });
  await call('getWebhook');
  await inTurn(() => call('testWebhook', hook, { type: 'item.toggled' }));
  await call('rotateWebhookSecret');
  const delivery = await eventually('an event is delivered', async () => {
    const { body } = await call('listDeliveries');
    return body.data.find(({ state }: Resource) => state === 'delivered');
  });
  const one = { ...hook, delivery_id: delivery.delivery_id };
  await call('getDelivery', one);
  await call('getEvent', { event_id: delivery.event_id });
  await call('retryDelivery', one);
  const replay = await call('replayWebhook', hook, { since });
  await call('getReplay', { ...hook, replay_id: replay.body.data.replay_id });
  await call('deleteWebhook');
}

// An account may run one test at a time.
let lastTest: Promise<unknown> = Promise.resolve();

async function inTurn(test: () => Promise<unknown>): Promise<void> {
  lastTest = lastTest.then(test);
  await lastTest;
}

async function callOn(
  build: Build,
  id: string,
  ids: Ids,
  json?: unknown,
  headers: Record<string, string> = {},
): Promise<ApiResponse> {
  const { method } = build.operations[id] ?? {};
  if (!method) throw new Error(`this build has no ${id}`);
  const options = { headers, ...(json !== undefined && { json }) };
  const response = await build.api.call(method, pathOf(build, id, ids), options);
  if (response.status >= 300) throw new Error(`${id}: ${response.status} ${response.text}`);
  build.called.add(id);
  return response;
}

function pathOf({ operations }: Build, id: string, ids: Ids): string {
  return operations[id]?.path.replaceAll(/{(\w+)}/g, (_, name: string) => String(ids[name])) ?? '';
}
