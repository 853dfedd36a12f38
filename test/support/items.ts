import type { components } from '../../generated/api.ts';
import type { Api } from './api.ts';

export type KnownItem = components['schemas']['Item'] & { location_id: number; path: string };

/** Available items of a menu of the demo account, each with its path. */
export async function demoItems(api: Api): Promise<[KnownItem, KnownItem, ...KnownItem[]]> {
  const menus = await api.get('/menus');
  const { menu_id, location_id } = menus.body.data[0];
  const items = await api.get(`/menus/${menu_id}/items?is_available=true`);
  return items.body.data.map((item: KnownItem) => ({
    ...item,
    location_id,
    path: `/menus/${menu_id}/items/${item.item_id}`,
  }));
}
