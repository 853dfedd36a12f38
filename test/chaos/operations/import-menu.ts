import { itemDefaults } from './create.ts';
import { type Draw, nameOf, oneOf } from './operation.ts';

/** A document of a few records with keys of their own; the import removes everything else from the menu. */
export const importMenu: Draw = (random, known, mark) => {
  const menu = oneOf(random, known, 'menu');
  if (!menu) return undefined;
  const named = ['A', 'B', 'C'].slice(0, random.between(1, 3));
  const keys = random.shuffle(['I1', 'I2', 'I3', 'I4', 'I5', 'I6', 'I7']).slice(0, random.between(3, 7));
  const entries = keys.map((external_id, index) => ({
    home: random.between(0, named.length - 1),
    entry: { external_id, name: `Item ${mark} ${index}`, price: mark / 100 },
  }));
  const categories = named.map((external_id, place) => ({
    external_id,
    name: `Category ${mark} ${external_id}`,
    items: entries.filter(({ home }) => home === place).map(({ entry }) => entry),
  }));
  const found = (kind: string, key: unknown): object | undefined =>
    kind === 'category'
      ? named.flatMap((external_id) =>
          external_id === key ? [{ external_id, name: `Category ${mark} ${external_id}` }] : [],
        )[0]
      : entries.find(({ entry }) => entry.external_id === key)?.entry;
  return {
    name: 'import menu',
    method: 'PUT',
    path: `/menus/${menu['menu_id']}/content`,
    body: { data: { name: `Menu ${mark}`, categories } },
    target: nameOf('menu', menu),
    effect: (record, before, told) => {
      const [kind = ''] = record.split(':');
      if (told['menu_id'] !== menu['menu_id'] || kind === 'location') return undefined;
      if (kind === 'menu') return before && { ...before, name: `Menu ${mark}` };
      const fields = found(kind, (before ?? told)['external_id']);
      if (!fields) return before && 'gone';
      const { sort_order, category_id } = told;
      const placed = { ...fields, sort_order, category_id };
      return before ? { ...before, ...placed } : { ...told, ...(kind === 'item' && itemDefaults), ...placed };
    },
    changed: (diff) => [
      ...(diff.menu ? [nameOf('menu', menu)] : []),
      ...[...diff.categories.updated, ...diff.categories.deleted].map((one) => nameOf('category', one)),
      ...[...diff.items.updated, ...diff.items.deleted].map((one) => nameOf('item', one)),
    ],
  };
};
