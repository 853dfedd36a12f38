import { comparison } from './rig/comparison.ts';
import type { Call } from './rig/http-load.ts';

export const getAvailability500 = comparison({
  name: 'getAvailability500',
  about: 'what can be ordered of a menu of 500 items with three modifier groups each',
  targets: ({ modifierMenus }) => modifierMenus.map(({ menu_id }) => [read(menu_id)]),
});

export const getAvailability304 = comparison({
  name: 'getAvailability304',
  about: 'the same for a client that already has it',
  targets: ({ modifierMenus }) =>
    modifierMenus.map(({ menu_id }) => [
      { ...read(menu_id), headers: { 'if-none-match': '*' }, status: 304 },
    ]),
});

function read(menu_id: number): Call {
  return { method: 'GET', path: `/menus/${menu_id}/availability` };
}
