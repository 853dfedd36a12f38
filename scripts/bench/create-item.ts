import { comparison } from './rig/comparison.ts';

const name = 'Created by the bench';

export const createItem = comparison({
  name: 'createItem',
  about: 'a new item, in one of 500 menus',
  targets: ({ items }) =>
    items.map(({ menu_id, category_id }) => [
      {
        method: 'POST',
        path: `/menus/${menu_id}/items`,
        json: { category_id, name, price: 12.5 },
        status: 201,
      },
    ]),
  reset: `delete from item where name = '${name}'`,
});
