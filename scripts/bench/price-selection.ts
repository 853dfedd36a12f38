import type { Bench } from './bench.ts';
import { comparison } from './rig/comparison.ts';
import type { Call } from './rig/http-load.ts';
import type { BenchServer } from './rig/server.ts';
import { startService } from './rig/service.ts';
import { call } from './rig/webhooks.ts';

const about = 'an item with five selections in three groups, one of them within another';

/** Uses a location of its own, so that the items of other benches stay unchanged. */
export const priceSelection: Bench = {
  ...comparison({ name: 'priceSelection', about, targets: () => [] }),
  async run(rig) {
    const targets = await offerModifiers(rig.server);
    return comparison({ name: 'priceSelection', about, targets: () => targets }).run(rig);
  },
};

interface Group {
  modifier_group_id: number;
  modifiers: { modifier_id: number }[];
}

/** @returns a call for each of 64 items */
export async function offerModifiers(server: BenchServer): Promise<Call[][]> {
  const service = await startService(server, { ROLE: 'api' });
  const make = async <T>(path: string, body: object) =>
    (await call(service, 'POST', path, body))['data'] as T;
  try {
    const place = { name: 'Bowls', timezone: 'Europe/Athens', currency: 'EUR' };
    const { location_id } = await make<{ location_id: number }>('/locations', place);
    const groups = `/locations/${location_id}/modifier-groups`;
    const group = (name: string, modifiers: number, rules: object) =>
      make<Group>(groups, {
        name,
        ...rules,
        modifiers: Array.from({ length: modifiers }, (_, n) => ({ name: `${name} ${n}`, price: n / 2 })),
      });
    const size = await group('Size', 3, { min_selections: 1, max_selections: 1 });
    const toppings = await group('Topping', 12, {
      max_selections: 6,
      max_per_modifier: 2,
      free_selections: 1,
    });
    const sides = await group('Side', 5, { max_selections: 2 });
    const dressings = await group('Dressing', 4, { min_selections: 1, max_selections: 1 });
    for (const { modifier_id } of sides.modifiers)
      await call(
        service,
        'PUT',
        `${groups}/${sides.modifier_group_id}/modifiers/${modifier_id}/modifier-groups`,
        {
          modifier_groups: [dressings].map(asUse),
        },
      );
    const { menu_id } = await make<{ menu_id: number }>('/menus', { location_id, name: 'Bowls' });
    const categories = `/menus/${menu_id}/categories`;
    const { category_id } = await make<{ category_id: number }>(categories, { name: 'Bowls' });
    const targets: Call[][] = [];
    for (let n = 0; n < 64; n += 1) {
      const item = { category_id, name: `Bowl ${n}`, price: 10 + n / 10 };
      const { item_id } = await make<{ item_id: number }>(`/menus/${menu_id}/items`, item);
      const path = `/menus/${menu_id}/items/${item_id}`;
      await call(service, 'PUT', `${path}/modifier-groups`, {
        modifier_groups: [size, toppings, sides].map(asUse),
      });
      const modifier = ({ modifiers }: Group, place: number, more: object = {}) => ({
        modifier_id: modifiers[(n + place) % modifiers.length]?.modifier_id,
        ...more,
      });
      const selections = [
        modifier(size, 0),
        modifier(toppings, 0, { quantity: 2 }),
        modifier(toppings, 1),
        modifier(sides, 0, { selections: [modifier(dressings, 0)] }),
      ];
      targets.push([{ method: 'POST', path: `${path}/price`, json: { quantity: 2, selections } }]);
    }
    return targets;
  } finally {
    await service.stop();
  }
}

function asUse({ modifier_group_id }: Group): object {
  return { modifier_group_id };
}
