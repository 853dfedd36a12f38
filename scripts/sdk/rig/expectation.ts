import { isDeepStrictEqual } from 'node:util';
import type { components } from '../../../generated/api.ts';
import type { PlainApi } from './plain-api.ts';

type Schemas = components['schemas'];

/**
 * Reads the account, by plain HTTP, before the scenario runs. The scenario must print these lines, in this order and
 * with the values of its account:
 *
 *   token Bearer for 3600 s                  by issueToken with CLIENT_ID and CLIENT_SECRET
 *   menus 2 first Dinner                     by listMenus; the name of the first
 *   menu 7 categories 7 items 56             by getMenu of the first
 *   updated item 42 price 12.50 version 2    by updateItem of the menu's first item with nothing but the price 12.5
 *   toggled item 42 available false version 3 replayed same
 *                                            by toggleItem twice with one Idempotency-Key: the answers are the same
 *   cleared item 42 photo null version 4     by updateItem with nothing but a null for photo_url
 *   404 not_found Record Not Found           by getItem 999999999 of the menu: code and title of the typed error
 *   422 parameter_error /name too_short, /name characters, /price too_small
 *                                            by updateItem with an empty name and the price -1: field and code of each
 *                                            fault of the typed error, in the order of the answer
 *   pages 3 items 56                         by listItems of the menu with limit 20, following next_cursor
 *   events item.updated 42 version 2, item.toggled 42 available false, item.updated 42 version 4
 *                                            by one page of listEvents of these types; the type of each event tells the
 *                                            type of its data
 *   webhook 1 events item.*,menu.toggled     by createWebhook with WEBHOOK_URL and these event types
 *
 * @param webhookUrl the WEBHOOK_URL that the scenario is given
 * @returns to be called after the scenario: compares what it printed, and what it did to the account; gives faults,
 *   a line each
 */
export async function expectation(
  api: PlainApi,
  webhookUrl: string,
): Promise<(printed: string) => Promise<string[]>> {
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
    const { data: webhooks } = await api.get<Schemas['WebhookList']>('/webhooks');
    const transcript = [
      'token Bearer for 3600 s',
      `menus ${menus.length} first ${name}`,
      `menu ${menu_id} categories ${menu.categories.length} items ${items.length}`,
      `updated item ${item_id} price 12.50 version ${version + 1}`,
      `toggled item ${item_id} available ${!is_available} version ${version + 2} replayed same`,
      `cleared item ${item_id} photo null version ${version + 3}`,
      '404 not_found Record Not Found',
      '422 parameter_error /name too_short, /name characters, /price too_small',
      `pages ${Math.ceil(items.length / 20)} items ${items.length}`,
      [
        `events item.updated ${item_id} version ${version + 1}`,
        `item.toggled ${item_id} available ${!is_available}`,
        `item.updated ${item_id} version ${version + 3}`,
      ].join(', '),
      `webhook ${webhooks[0]?.webhook_id} events item.*,menu.toggled`,
    ];
    return [
      ...differs('the transcript', printed.trimEnd().split('\n'), transcript),
      ...differs('the item', after, {
        ...before,
        price: 12.5,
        photo_url: null,
        is_available: !is_available,
        version: version + 3,
      }),
      ...differs(
        'the events and what they changed',
        events.data.map(({ type, previous }) => `${type} ${Object.keys(previous ?? {})}`),
        ['item.updated price', 'item.toggled is_available', 'item.updated photo_url'],
      ),
      ...differs(
        'the webhooks',
        webhooks.map(({ url, event_types }) => ({ url, event_types })),
        [{ url: webhookUrl, event_types: ['item.*', 'menu.toggled'] }],
      ),
    ];
  };
}

function differs(what: string, found: unknown, expected: unknown): string[] {
  if (isDeepStrictEqual(found, expected)) return [];
  return [`${what} should be ${shown(expected)}, not ${shown(found)}`];
}

function shown(value: unknown): string {
  return Array.isArray(value) && value.length > 3 ? `\n  ${value.join('\n  ')}\n` : JSON.stringify(value);
}
