import type { Database } from '../db/database.ts';
import type { EncodedJson } from '../db/json.ts';
import type { MenuDetail } from './menu-detail.ts';

/*
 * Bodies of whole menus, kept in this process. Building one costs the database about 10 µs an item, and the same few
 * menus are read far more often than they change. A body is served only under the ETag that the database has just
 * told for the menu, so it is never older than the read: another process's write changes the tag, and with it misses.
 */

const maxBytes = 64 * 1024 * 1024;

interface Built {
  etag: string;
  body: EncodedJson<{ data: MenuDetail }>;
}

const byDatabase = new WeakMap<Database, { menus: Map<number, Built>; bytes: number }>();

/** The body as it was built under this ETag, or undefined. */
export function builtMenu(database: Database, menuId: number, etag: string): Built['body'] | undefined {
  const built = byDatabase.get(database)?.menus.get(menuId);
  return built?.etag === etag ? built.body : undefined;
}

/** Keeps a menu; those kept longest make room for it. */
export function keepMenu(database: Database, menuId: number, built: Built): void {
  const kept = byDatabase.get(database) ?? { menus: new Map<number, Built>(), bytes: 0 };
  byDatabase.set(database, kept);
  drop(kept, menuId);
  kept.menus.set(menuId, built);
  kept.bytes += built.body.length;
  for (const oldest of kept.menus.keys()) {
    if (kept.bytes <= maxBytes) break;
    drop(kept, oldest);
  }
}

function drop(kept: { menus: Map<number, Built>; bytes: number }, menuId: number): void {
  kept.bytes -= kept.menus.get(menuId)?.body.length ?? 0;
  kept.menus.delete(menuId);
}
