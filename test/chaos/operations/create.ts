import type { Fields } from '../model.ts';
import { type Draw, type Operation, oneOf } from './operation.ts';

/** The defaults of a new item. */
export const itemDefaults = {
  description: '',
  photo_url: null,
  allergens: [],
  dietary_tags: [],
  is_available: true,
  unavailable_until: null,
  external_id: null,
};

/** Roughly how many of each kind the load keeps. */
const most = { item: 36, category: 10, menu: 4, location: 3 };

export const newItem: Draw = (random, known, mark) => {
  const home = oneOf(random, known, 'category');
  if (!home || known.all('item').length >= most.item) return undefined;
  return createItem(home, `Item ${mark}`, mark / 100);
};

export const newCategory: Draw = (random, known, mark) => {
  const menu = oneOf(random, known, 'menu');
  if (!menu || known.all('category').length >= most.category) return undefined;
  return createCategory(menu, `Category ${mark}`);
};

export const newMenu: Draw = (random, known, mark) => {
  const location = oneOf(random, known, 'location');
  if (!location || known.all('menu').length >= most.menu) return undefined;
  return createMenu(location, `Menu ${mark}`);
};

export const newLocation: Draw = (_random, known, mark) =>
  known.all('location').length < most.location ? createLocation(`Location ${mark}`) : undefined;

export function createItem({ menu_id, category_id }: Fields, name: string, price: number): Operation {
  const body = { category_id, name, price };
  return creation('item', `/menus/${menu_id}/items`, body, { ...itemDefaults, ...body });
}

export function createCategory({ menu_id }: Fields, name: string): Operation {
  const path = `/menus/${menu_id}/categories`;
  return creation('category', path, { name }, { name, description: '', external_id: null });
}

export function createMenu({ location_id }: Fields, name: string): Operation {
  const body = { location_id, name };
  return creation('menu', '/menus', body, { ...body, description: '', is_active: true, external_id: null });
}

export function createLocation(name: string): Operation {
  const body = { name, timezone: 'Asia/Tokyo', currency: 'EUR' };
  return creation('location', '/locations', body, { ...body, address: null, phone: null, external_id: null });
}

function creation(kind: string, path: string, body: object, fields: object): Operation {
  return {
    name: `create ${kind}`,
    method: 'POST',
    path,
    body,
    effect: (record, before, told) =>
      record.startsWith(`${kind}:`) && !before ? { ...told, ...fields } : undefined,
    changed: (data) => [`${kind}:${data[`${kind}_id`]}`],
  };
}
