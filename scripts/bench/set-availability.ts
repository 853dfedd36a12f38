import type { Bench } from './bench.ts';
import { comparison } from './rig/comparison.ts';
import type { Call } from './rig/http-load.ts';

/** Makes all items available, so that the first call of each round changes them. */
export const restock = 'update item set is_available = true, unavailable_until = null where not is_available';

export const setAvailability1 = comparison({
  name: 'setAvailability1',
  about: 'the availability of 1 item by its menu, one of 500',
  targets: ({ items }) => items.map(switches),
  reset: restock,
});

export const setAvailability100 = many(100);
export const setAvailability500 = many(500);

/** There are only 20 menus of this size; more connections would contend for their rows. */
function many(count: number): Bench {
  return comparison({
    name: `setAvailability${count}`,
    about: `the availability of ${count} items of a menu, one of 20`,
    targets: ({ largeMenus }) =>
      largeMenus.map(({ menu_id, item_ids }) => switchesOf(menu_id, item_ids.slice(0, count))),
    reset: restock,
    mostConnections: 16,
    longer: count / 100,
  });
}

/** The calls that take turns on an item. */
export function switches({ menu_id, item_id }: { menu_id: number; item_id: number }): Call[] {
  return switchesOf(menu_id, [item_id]);
}

/** The same of several items of a menu. */
export function switchesOf(menu_id: number, item_ids: number[]): Call[] {
  return switchesOfNamed(
    menu_id,
    item_ids.map((item_id) => ({ item_id })),
  );
}

/** The same of items by whatever names them. Off and on take turns, so that every call changes every item. */
export function switchesOfNamed(
  menu_id: number,
  items: ({ item_id: number } | { external_id: string })[],
): Call[] {
  return [false, true].map((is_available) => ({
    method: 'POST',
    path: `/menus/${menu_id}/availability`,
    json: { items: items.map((item) => ({ ...item, is_available })) },
  }));
}
