import type { Database } from '../db/database.ts';
import type { Json } from '../http/json.ts';
import type { MenuDetail } from './menu-detail.ts';

/*
 * Bodies of whole menus, kept in this process. Building one costs the database about 10 µs an item, and the same few
 * menus are read far more often than they change. A body is served only under the ETag that the database has just
 * told for the menu, so it is never older than the read: another process's write changes the tag, and with it misses.
 */

const maxCharacters = 32 * 1024 * 1024;

interface Built {
  etag: string;
  menu: Json<MenuDetail>;
}

const byDatabase = new WeakMap<Database, { menus: Map<number, Built>; characters: number }>();

/** The menu as it was built under this ETag, or undefined. */
export function builtMenu(database: Database, menuId: number, etag: string): Json<MenuDetail> | undefined {
  const built = byDatabase.get(database)?.menus.get(menuId);
  return built?.etag === etag ? built.menu : undefined;
}

/** Keeps a menu; those kept longest make room for it. */
export function keepMenu(database: Database, menuId: number, built: Built): void {
  const kept = byDatabase.get(database) ?? { menus: new Map<number, Built>(), characters: 0 };
  byDatabase.set(database, kept);
  drop(kept, menuId);
  kept.menus.set(menuId, built);
  kept.characters += built.menu.length;
  for (const oldest of kept.menus.keys()) {
    if (kept.characters <= maxCharacters) break;
    drop(kept, oldest);
  }
}

function drop(kept: { menus: Map<number, Built>; characters: number }, menuId: number): void {
  kept.characters -= kept.menus.get(menuId)?.menu.length ?? 0;
  kept.menus.delete(menuId);
}
