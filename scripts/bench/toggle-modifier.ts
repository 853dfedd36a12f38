import { comparison } from './rig/comparison.ts';
import type { ModifierPath } from './rig/data.ts';
import type { Call } from './rig/http-load.ts';

export const toggleModifier = comparison({
  name: 'toggleModifier',
  about: 'the availability of a modifier that 500 items of a menu offer, one in each of 20 menus',
  mostConnections: 16,
  targets: ({ modifierMenus }) => modifierMenus.map(({ modifiers }) => [toggle(modifiers[0])]),
});

/** @throws when there is none */
export function toggle(modifier: ModifierPath | undefined): Call {
  if (!modifier) throw new Error('a menu without modifiers');
  const { location_id, modifier_group_id, modifier_id } = modifier;
  const group = `/locations/${location_id}/modifier-groups/${modifier_group_id}`;
  return { method: 'POST', path: `${group}/modifiers/${modifier_id}/toggle` };
}
