import { comparison } from './rig/comparison.ts';

// Two prices that take turns, so that every call changes its item.
const prices = [12.5, 13.25];

export const updateItem = comparison({
  name: 'updateItem',
  about: 'the price of an item, one of 500 in as many menus',
  targets: ({ items }) =>
    items.map(({ menu_id, item_id }) =>
      prices.map((price) => ({ method: 'PUT', path: `/menus/${menu_id}/items/${item_id}`, json: { price } })),
    ),
  // Each round begins with the first price.
  reset: `update item set price = ${prices[1]} where price = ${prices[0]}`,
});
