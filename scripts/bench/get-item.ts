import { comparison } from './rig/comparison.ts';

export const getItem = comparison({
  name: 'getItem',
  about: 'one item',
  targets: ({ items }) =>
    items.map(({ menu_id, item_id }) => [{ method: 'GET', path: `/menus/${menu_id}/items/${item_id}` }]),
});
