import { comparison } from './rig/comparison.ts';

// Two lists of prices that take turns, so that every import changes every item.
const prices = [12.5, 13.25];

export const importMenu = comparison({
  name: 'importMenu',
  about: 'new prices for all 5,000 items of a menu, keyed by external_id',
  targets: ({ hugeMenu: { menu_id, categories } }) => [
    prices.map((price) => ({
      method: 'PUT',
      path: `/menus/${menu_id}/content`,
      json: {
        data: {
          categories: categories.map(({ category_id, external_ids }) => ({
            category_id,
            items: external_ids.map((external_id) => ({ external_id, price })),
          })),
        },
      },
    })),
  ],
  reset: `update item set price = ${prices[1]} where price = ${prices[0]}`,
  mostConnections: 1,
  longer: 6,
});
