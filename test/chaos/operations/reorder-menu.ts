import { type Draw, nameOf, oneOf } from './operation.ts';

export const reorderMenu: Draw = (random, known) => {
  const menu = oneOf(random, known, 'menu');
  if (!menu) return undefined;
  const items = random.shuffle(known.all('item', Number(menu['menu_id'])));
  const categories = random
    .shuffle(known.all('category', Number(menu['menu_id'])))
    .map(({ category_id }) => ({
      category_id,
      items: items.filter((item) => item['category_id'] === category_id).map(({ item_id }) => item_id),
    }));
  return {
    name: 'reorder menu',
    method: 'PUT',
    path: `/menus/${menu['menu_id']}/order`,
    body: { categories },
    target: nameOf('menu', menu),
    effect: (record, before, told) => {
      const [kind, id] = record.split(':');
      if (!before || before['menu_id'] !== menu['menu_id']) return undefined;
      if (kind === 'category') return { ...before, sort_order: told['sort_order'] };
      const home = categories.find(({ items }) => items.includes(Number(id)));
      return home && { ...before, category_id: home.category_id, sort_order: told['sort_order'] };
    },
  };
};
