import type { Reach } from './reach.ts';
import { requireRecord } from './record-kind.ts';

/** Path of one menu and who asks. */
export type MenuKey = { menu_id: number } & Reach;

/**
 * @throws 404 or 403 when the caller finds no such menu. Here, since what is inside a menu asks for it as well.
 */
export const requireMenu = requireRecord<MenuKey>('menus.requireMenu', { table: 'menu', path: ['menu_id'] });
