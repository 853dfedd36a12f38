import type { components } from '../../generated/api.ts';
import type { Api } from './api.ts';

export type ItemAt = components['schemas']['Item'] & { location_id: number; path: string };

/** Available items of the client's first menu, with the path of each below /api/v1. */
export async function someItems(api: Api, count: number): Promise<[ItemAt, ...ItemAt[]]> {
  const [menu] = (await api.get('/menus')).body.data;
  return itemsOf(api, menu, count);
}

/** Available items of a menu. */
export async function itemsOf(
  api: Api,
  { menu_id, location_id }: { menu_id: number; location_id: number },
  count: number,
): Promise<[ItemAt, ...ItemAt[]]> {
  const found = await api.get(`/menus/${menu_id}/items?is_available=true&limit=${count}`);
  const items = found.body.data.map((item: ItemAt) => ({
    ...item,
    location_id,
    path: `/menus/${menu_id}/items/${item.item_id}`,
  }));
  if (items.length < count) throw new Error(`menu ${menu_id} has ${items.length} available items`);
  return items;
}
