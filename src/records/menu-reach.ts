import type { Reach } from './reach.ts';
import { requireRecord } from './record-kind.ts';

/** The path of one menu, with what the caller may reach. */
export type MenuKey = { menu_id: number } & Reach;

/**
 * @throws 404 or 403 when there is no such menu for the caller. It is in this folder because records inside a menu need
 *   it too.
 */
export const requireMenu = requireRecord<MenuKey>('menus.requireMenu', { table: 'menu', path: ['menu_id'] });
