import { comparison } from './rig/comparison.ts';
import type { Call } from './rig/http-load.ts';

export const getMenu60 = comparison({
  name: 'getMenu60',
  about: 'a whole menu of 60 items',
  targets: ({ smallMenus }) => smallMenus.slice(0, 100).map((menu_id) => [read(menu_id)]),
});

export const getMenu500 = comparison({
  name: 'getMenu500',
  about: 'a whole menu of 500 items',
  targets: ({ largeMenus }) => largeMenus.map(({ menu_id }) => [read(menu_id)]),
});

export const getMenu304 = comparison({
  name: 'getMenu304',
  about: 'a menu of 500 items that the client already has',
  targets: ({ largeMenus }) =>
    largeMenus.map(({ menu_id }) => [{ ...read(menu_id), headers: { 'if-none-match': '*' }, status: 304 }]),
});

function read(menu_id: number): Call {
  return { method: 'GET', path: `/menus/${menu_id}` };
}
