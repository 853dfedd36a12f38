import { comparison } from './rig/comparison.ts';
import type { Call } from './rig/http-load.ts';

// Two prices that take turns, so that every call changes its item.
const prices = [12.5, 13.25];

/** Each round begins with the first price. */
export const formerPrices = `update item set price = ${prices[1]} where price = ${prices[0]}`;

export const updateItem = comparison({
  name: 'updateItem',
  about: 'the price of an item, one of 500 in as many menus',
  targets: ({ items }) => items.map(newPrices),
  reset: formerPrices,
});

/** The calls that take turns on an item. */
export function newPrices({ menu_id, item_id }: { menu_id: number; item_id: number }): Call[] {
  return prices.map((price) => ({
    method: 'PUT',
    path: `/menus/${menu_id}/items/${item_id}`,
    json: { price },
  }));
}
