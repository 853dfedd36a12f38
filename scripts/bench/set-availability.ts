import type { Bench } from './bench.ts';
import { comparison } from './rig/comparison.ts';
import type { Call } from './rig/http-load.ts';

/** Each round begins by taking the items off. */
export const restock = 'update item set is_available = true, unavailable_until = null where not is_available';

export const setAvailability1 = comparison({
  name: 'setAvailability1',
  about: 'the availability of 1 item by its menu, one of 500',
  targets: ({ items }) => items.map(switches),
  reset: restock,
});

export const setAvailability100 = many(100);
export const setAvailability500 = many(500);

/** There are 20 menus that large, so that more connections would meet on their rows. */
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

/** Off and on take turns, so that every call changes every item. */
function switchesOf(menu_id: number, item_ids: number[]): Call[] {
  return [false, true].map((is_available) => ({
    method: 'POST',
    path: `/menus/${menu_id}/availability`,
    json: { items: item_ids.map((item_id) => ({ item_id, is_available })) },
  }));
}
