import { isDeepStrictEqual } from 'node:util';
import type { components } from '../../../generated/api.ts';
import type { PlainApi } from './plain-api.ts';

type Schemas = components['schemas'];

/** One character of four bytes that is a symbol, one that is a letter: two code units each in JavaScript and Java. */
const sushi = '🍣 𠮷';

const menuHours = {
  weekly: [{ days: ['fri', 'sat'], from: '22:00', minutes: 240 }],
  dates: [{ date: '2030-01-04', windows: [] }],
  valid_from: null,
  valid_until: null,
};
const itemHours = { ...menuHours, weekly: [{ days: ['sat'], from: '23:00', minutes: 60 }], dates: [] };

/**
 * Reads the account, by plain HTTP, before the scenario runs. The scenario must print these lines, in this order and
 * with the values of its account:
 *
 *   token Bearer for 3600 s                  by issueToken with CLIENT_ID and CLIENT_SECRET
 *   client cl_1 scopes menus:read,menus:write locations null
 *                                            by getCurrentClient
 *   location 3 𠮷野家 🍣 address null         by listLocations: the first
 *   menus 2 first Dinner                     by listMenus; the name of the first
 *   menu 7 categories 7 items 56             by getMenu of the first
 *   updated item 42 price 12.50 version 2    by updateItem of the menu's first item with nothing but the price 12.5
 *   toggled item 42 available false version 3 replayed same
 *                                            by toggleItem twice with one Idempotency-Key: the answers are the same
 *   cleared item 42 photo null version 4     by updateItem with nothing but a null for photo_url
 *   wrote item 99 🍣 𠮷 price 0.07 until 1893549600
 *                                            by createItem in the item's category with this name, this price, the
 *                                            external_id SUSHI-1 and unavailable_until 2030-01-02T02:00:00Z; its
 *                                            seconds since 1970
 *   raised item 99 price 4.35 version 2      by updateItem of that item with nothing but the price 4.35
 *   404 not_found Record Not Found           by getItem 999999999 of the menu: code and title of the typed error
 *   422 parameter_error /name too_short, /name characters, /price too_small
 *                                            by updateItem with an empty name and the price -1: field and code of each
 *                                            fault of the typed error, in the order of the answer
 *   pages 3 items 57                         by listItems of the menu with limit 20, following next_cursor
 *   found items 42, 99                       by searchItems with the external_ids of both
 *   item 99 external SUSHI-1 menu 7          by getItemById
 *   set 99 changed available true, SUSHI-2 not_found
 *                                            by setLocationAvailability of two external_ids: SUSHI-1, to be available,
 *                                            and SUSHI-2, not to be
 *   group 5 Extras min 0 max null: Egg 0.07  by createModifierGroup with a modifier of this name and price
 *   group 6 Size min 1 max 1: Small 0.00, Large 1.50
 *                                            likewise, with these bounds
 *   modifier 33 offers group 5               by setModifierModifierGroups of Large
 *   item 99 offers group 6 version 4         by setItemModifierGroups
 *   toggled modifier 32 available false version 2
 *                                            by toggleModifier of Small
 *   hours of menu 7 fri,sat 22:00 for 240 min, 2030-01-04 closed
 *                                            by updateMenu with nothing but these hours: two weekdays, and a date
 *                                            without windows
 *   hours of item 99 sat 23:00 for 60 min    by updateItem with nothing but these hours
 *   price of item 99 5.92 total 11.84 EUR orderable true: /selections/0 Large 1.50, /selections/0/selections/0 Egg 0.07
 *                                            by priceSelection at 2030-01-05T23:30 of two of it, each with Large, and
 *                                            Egg with that: unit_price, total_price, currency and is_orderable, then
 *                                            pointer, name and total_price of each line
 *   price of item 99 4.35 total 4.35 EUR orderable false: /selections/0 Small 0.00, /selections/0 off
 *                                            likewise, of one with Small; then pointer and code of each problem
 *   orderable menu 7 true, item 42 item_off by cl_1, item 99 item_hours until 1893877200
 *                                            by getAvailability at 2030-01-05T22:30: is_orderable of the menu, the codes
 *                                            of the reasons of both items, joined by "+", with unavailable_by of the
 *                                            first one's first reason and next_change_at of the second one, in seconds
 *   changed menus 2 since 2020, 0 since 2099 by listMenus with updated_since at the start of these years, in UTC
 *   events item.updated 42 version 2, item.toggled 42 available false, item.updated 42 version 4, item.updated 99
 *   version 2, item.toggled 99 available true, item.updated 99 version 4, item.updated 99 version 5
 *                                            in one line; by one page of listEvents of these types, read until it has
 *                                            the seven, as events are listed a few milliseconds after their writes; the
 *                                            type of each event tells the type of its data
 *   feed 79                                  by listEvents of all types with limit 200: how many there are
 *   webhook 1 events item.*,menu.toggled     by createWebhook with WEBHOOK_URL and these event types
 *   revoked 401 invalid_token                by revokeToken of its token, then getCurrentClient until it is refused, which
 *                                            takes a second: status and code of the typed error
 *
 * @param clientId the CLIENT_ID that the scenario is given
 * @param webhookUrl the WEBHOOK_URL that the scenario is given
 * @returns to be called after the scenario: compares what it printed, and what it did to the account; gives faults,
 *   a line each
 */
export async function expectation(
  api: PlainApi,
  clientId: string,
  webhookUrl: string,
): Promise<(printed: string) => Promise<string[]>> {
  const { data: client } = await api.get<Schemas['CurrentClientResponse']>('/oauth/client');
  const { data: locations } = await api.get<Schemas['LocationList']>('/locations');
  const [location] = locations as [Schemas['Location']];
  const { data: menus } = await api.get<Schemas['MenuList']>('/menus');
  const [{ menu_id, name }] = menus as [Schemas['Menu']];
  const { data: menu } = await api.get<Schemas['MenuDetailResponse']>(`/menus/${menu_id}`);
  const items = menu.categories.flatMap((category) => category.items);
  const [{ updated_at: _, ...before }] = items as [Schemas['Item']];
  const { item_id, is_available, version } = before;

  return async (printed) => {
    const { data } = await api.get<Schemas['ItemResponse']>(`/menus/${menu_id}/items/${item_id}`);
    const { updated_at: _, ...after } = data;
    const events = await api.get<Schemas['EventList']>('/events?type=item.updated&type=item.toggled');
    const toggled = events.data.find(({ type }) => type === 'item.toggled');
    const feed = await api.get<Schemas['EventList']>('/events?limit=200');
    const written = await api.get<Schemas['ItemList']>(
      `/menus/${menu_id}/items?q=${encodeURIComponent(sushi)}`,
    );
    const added = written.data.at(-1);
    const { data: groups } = await api.get<Schemas['ModifierGroupList']>(
      `/locations/${location.location_id}/modifier-groups`,
    );
    const [extras, size] = ['Extras', 'Size'].map((name) => groups.find((group) => group.name === name));
    const [small, large] = size?.modifiers ?? [];
    const { data: timed } = await api.get<Schemas['MenuDetailResponse']>(`/menus/${menu_id}`);
    const { data: webhooks } = await api.get<Schemas['WebhookList']>('/webhooks');
    const transcript = [
      'token Bearer for 3600 s',
      `client ${clientId} scopes ${client.scopes} locations null`,
      `location ${location.location_id} ${location.name} address null`,
      `menus ${menus.length} first ${name}`,
      `menu ${menu_id} categories ${menu.categories.length} items ${items.length}`,
      `updated item ${item_id} price 12.50 version ${version + 1}`,
      `toggled item ${item_id} available ${!is_available} version ${version + 2} replayed same`,
      `cleared item ${item_id} photo null version ${version + 3}`,
      `wrote item ${added?.item_id} ${sushi} price 0.07 until 1893549600`,
      `raised item ${added?.item_id} price 4.35 version 2`,
      '404 not_found Record Not Found',
      '422 parameter_error /name too_short, /name characters, /price too_small',
      `pages ${Math.ceil((items.length + 1) / 20)} items ${items.length + 1}`,
      `found items ${item_id}, ${added?.item_id}`,
      `item ${added?.item_id} external SUSHI-1 menu ${menu_id}`,
      `set ${added?.item_id} changed available true, SUSHI-2 not_found`,
      `group ${extras?.modifier_group_id} Extras min 0 max null: Egg 0.07`,
      `group ${size?.modifier_group_id} Size min 1 max 1: Small 0.00, Large 1.50`,
      `modifier ${large?.modifier_id} offers group ${extras?.modifier_group_id}`,
      `item ${added?.item_id} offers group ${size?.modifier_group_id} version 4`,
      `toggled modifier ${small?.modifier_id} available false version 2`,
      `hours of menu ${menu_id} fri,sat 22:00 for 240 min, 2030-01-04 closed`,
      `hours of item ${added?.item_id} sat 23:00 for 60 min`,
      [
        `price of item ${added?.item_id} 5.92 total 11.84 EUR orderable true: /selections/0 Large 1.50`,
        '/selections/0/selections/0 Egg 0.07',
      ].join(', '),
      [
        `price of item ${added?.item_id} 4.35 total 4.35 EUR orderable false: /selections/0 Small 0.00`,
        '/selections/0 off',
      ].join(', '),
      [
        `orderable menu ${menu_id} true`,
        `item ${item_id} item_off by ${clientId}`,
        `item ${added?.item_id} item_hours until ${Date.parse('2030-01-05T23:00+02:00') / 1_000}`,
      ].join(', '),
      `changed menus ${menus.length} since 2020, 0 since 2099`,
      [
        `events item.updated ${item_id} version ${version + 1}`,
        `item.toggled ${item_id} available ${!is_available}`,
        `item.updated ${item_id} version ${version + 3}`,
        `item.updated ${added?.item_id} version 2`,
        `item.toggled ${added?.item_id} available true`,
        `item.updated ${added?.item_id} version 4`,
        `item.updated ${added?.item_id} version 5`,
      ].join(', '),
      `feed ${feed.data.length}`,
      `webhook ${webhooks[0]?.webhook_id} events item.*,menu.toggled`,
      'revoked 401 invalid_token',
    ];
    return [
      ...differs('the transcript', printed.trimEnd().split('\n'), transcript),
      ...differs('the item', after, {
        ...before,
        price: 12.5,
        photo_url: null,
        is_available: !is_available,
        unavailable_since: is_available ? toggled?.data.updated_at : null,
        unavailable_by: is_available ? clientId : null,
        version: version + 3,
      }),
      ...differs(
        'the events and what they changed',
        events.data.map(({ type, previous }) => `${type} ${Object.keys(previous ?? {})}`),
        [
          'item.updated price',
          'item.toggled is_available',
          'item.updated photo_url',
          'item.updated price',
          'item.toggled is_available,unavailable_until',
          'item.updated modifier_groups',
          'item.updated hours',
        ],
      ),
      ...differs('the new item', shape(added), {
        category_id: before.category_id,
        name: sushi,
        price: 4.35,
        is_available: true,
        unavailable_until: null,
        hours: itemHours,
        modifier_groups: uses(size),
      }),
      ...differs('the hours of the menu', timed.hours, menuHours),
      ...differs(
        'the modifiers',
        [extras, size].flatMap((group) => group?.modifiers.map(said)),
        [
          { name: 'Egg', price: 0.07, is_available: true, modifier_groups: [] },
          { name: 'Small', price: 0, is_available: false, modifier_groups: [] },
          { name: 'Large', price: 1.5, is_available: true, modifier_groups: uses(extras) },
        ],
      ),
      ...differs(
        'the webhooks',
        webhooks.map(({ url, event_types }) => ({ url, event_types })),
        [{ url: webhookUrl, event_types: ['item.*', 'menu.toggled'] }],
      ),
    ];
  };
}

/** What a new item was asked to be. */
function shape(item?: Schemas['Item']) {
  if (!item) return;
  const { category_id, name, price, is_available, unavailable_until, hours, modifier_groups } = item;
  return { category_id, name, price, is_available, unavailable_until, hours, modifier_groups };
}

/** What a modifier was asked to be. */
function said({ name, price, is_available, modifier_groups }: Schemas['Modifier']) {
  return { name, price, is_available, modifier_groups };
}

function uses(group?: Schemas['ModifierGroup']) {
  return [{ modifier_group_id: group?.modifier_group_id, min_selections: null, max_selections: null }];
}

function differs(what: string, found: unknown, expected: unknown): string[] {
  if (isDeepStrictEqual(found, expected)) return [];
  return [`${what} should be ${shown(expected)}, not ${shown(found)}`];
}

function shown(value: unknown): string {
  return Array.isArray(value) && value.length > 3 ? `\n  ${value.join('\n  ')}\n` : JSON.stringify(value);
}
