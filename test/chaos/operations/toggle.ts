import type { Fields } from '../model.ts';
import { type Draw, nameOf, type Operation, oneOf, pathOf } from './operation.ts';

export const toggleItem: Draw = (random, known) => {
  const item = oneOf(random, known, 'item');
  return (
    item &&
    toggling('item', item, (before) => ({ is_available: !before['is_available'], unavailable_until: null }))
  );
};

export const toggleMenu: Draw = (random, known) => {
  const menu = oneOf(random, known, 'menu');
  return menu && toggling('menu', menu, (before) => ({ is_active: !before['is_active'] }));
};

function toggling(kind: string, found: Fields, flipped: (before: Fields) => object): Operation {
  const target = nameOf(kind, found);
  return {
    name: `toggle ${kind}`,
    method: 'POST',
    path: `${pathOf(kind, found)}/toggle`,
    target,
    effect: (record, before) => (record === target && before ? { ...before, ...flipped(before) } : undefined),
    changed: () => [target],
  };
}
