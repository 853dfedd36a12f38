import type { Fields } from '../model.ts';
import { type Draw, nameOf, oneOf } from './operation.ts';

export const setAvailability: Draw = (random, known) => {
  const menu = oneOf(random, known, 'menu');
  const items = random.shuffle(known.all('item', menu && Number(menu['menu_id'])));
  if (!menu || items.length === 0) return undefined;
  const rows = items.slice(0, random.between(1, 8)).map(({ item_id }) => {
    const is_available = random.chance(0.5);
    const returns = !is_available && random.chance(0.3);
    return {
      item_id: Number(item_id),
      is_available,
      ...(returns && { unavailable_until: inMilliseconds(random.between(1_000, 3_000)) }),
    };
  });
  return {
    name: 'set availability',
    method: 'POST',
    path: `/menus/${menu['menu_id']}/availability`,
    body: { items: rows },
    target: nameOf('menu', menu),
    effect: (record, before) => {
      const row = rows.find(({ item_id }) => record === `item:${item_id}`);
      return row && before ? { ...before, ...switched(before, row) } : undefined;
    },
    changed: (data: { item_id: number; result: string }[]) =>
      data.filter(({ result }) => result === 'changed').map(({ item_id }) => `item:${item_id}`),
  };
};

interface Switch {
  is_available?: boolean;
  unavailable_until?: string;
}

/** Absent fields stay; an item that is on has no time of return. */
function switched(before: Fields, { is_available, unavailable_until }: Switch): object {
  const on = is_available ?? before['is_available'];
  return {
    is_available: on,
    unavailable_until: on ? null : (unavailable_until ?? before['unavailable_until']),
  };
}

function inMilliseconds(ms: number): string {
  return new Date(Date.now() + ms).toISOString();
}
