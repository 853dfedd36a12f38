import type { Api, ApiResponse } from './api.ts';

// biome-ignore lint/suspicious/noExplicitAny: the contract check has validated it; tests look into it freely
type Resource = any;

/** A location; further fields of the body may be given. */
export async function makeLocation(api: Api, fields: object = {}): Promise<Resource> {
  return made(
    await api.post('/locations', { name: 'Sakura Test', timezone: 'Asia/Tokyo', currency: 'EUR', ...fields }),
  );
}

/** A menu at the location. */
export async function makeMenu(api: Api, location_id: number, fields: object = {}): Promise<Resource> {
  return made(await api.post('/menus', { location_id, name: 'Evening', ...fields }));
}

/** A category of the menu. */
export async function makeCategory(api: Api, menu_id: number, fields: object = {}): Promise<Resource> {
  return made(await api.post(`/menus/${menu_id}/categories`, { name: 'Nigiri', ...fields }));
}

/** An item in the category. */
export async function makeItem(
  api: Api,
  { menu_id, category_id }: { menu_id: number; category_id: number },
  fields: object = {},
): Promise<Resource> {
  return made(
    await api.post(`/menus/${menu_id}/items`, { category_id, name: 'Salmon', price: 4.5, ...fields }),
  );
}

/** A modifier group at the location, with its modifiers. */
export async function makeModifierGroup(
  api: Api,
  location_id: number,
  fields: object = {},
): Promise<Resource> {
  const modifiers = [{ name: 'Small' }, { name: 'Large', price: 1.5 }];
  return made(
    await api.post(`/locations/${location_id}/modifier-groups`, { name: 'Size', modifiers, ...fields }),
  );
}

/** A location with one menu, which has one category with one item. */
export async function makeTree(
  api: Api,
): Promise<{ location: Resource; menu: Resource; category: Resource; item: Resource }> {
  const location = await makeLocation(api);
  const menu = await makeMenu(api, location.location_id);
  const category = await makeCategory(api, menu.menu_id);
  const item = await makeItem(api, category);
  return { location, menu, category, item };
}

function made(response: ApiResponse): Resource {
  if (response.status !== 201) throw new Error(`not made: ${response.status} ${response.text}`);
  return response.body.data;
}
