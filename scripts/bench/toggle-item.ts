import { comparison } from './rig/comparison.ts';

export const toggleItem = comparison({
  name: 'toggleItem',
  about: 'the availability of an item, one of 500 in as many menus',
  targets: ({ items }) =>
    items.map(({ menu_id, item_id }) => [
      { method: 'POST', path: `/menus/${menu_id}/items/${item_id}/toggle` },
    ]),
});
