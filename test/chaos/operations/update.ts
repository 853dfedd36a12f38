import type { Known } from '../known.ts';
import type { Fields } from '../model.ts';
import type { Random } from '../random.ts';
import { type Draw, nameOf, type Operation, oneOf, pathOf } from './operation.ts';

export const updateItem: Draw = (random, known, mark) => {
  const item = oneOf(random, known, 'item');
  if (!item) return undefined;
  const moves = random.chance(0.1) ? oneOf(random, known, 'category', Number(item['menu_id'])) : undefined;
  const body = {
    price: mark / 100,
    ...(random.chance(0.3) && { name: `Item ${mark}` }),
    ...(moves && { category_id: Number(moves['category_id']) }),
    ...(random.chance(0.2) && { is_available: random.chance(0.5) }),
  };
  return updating(random, known, 'item', item, body);
};

export function rename(kind: string): Draw {
  return (random, known, mark) => {
    const found = oneOf(random, known, kind);
    return found && updating(random, known, kind, found, { name: `${kind} ${mark}` });
  };
}

function updating(random: Random, known: Known, kind: string, found: Fields, body: object): Operation {
  const target = nameOf(kind, found);
  // The ETags of menus and categories also change with their contents.
  const isOwn = kind === 'item' || kind === 'location';
  const match = isOwn && random.chance(0.2) ? known.tags.get(target) : undefined;
  return {
    name: `update ${kind}`,
    method: 'PUT',
    path: pathOf(kind, found),
    body,
    ...(match && { headers: { 'if-match': match.eTag } }),
    target,
    effect: (record, before) => {
      if (record !== target || !before || (match && before.version !== match.version)) return undefined;
      const switchedOn = 'is_available' in body && body.is_available === true;
      return { ...before, ...body, ...(switchedOn && { unavailable_until: null }) };
    },
    changed: () => [target],
  };
}
