/**
 * A cache of whole menus in this process: the same few menus are read far more often than they change.
 *
 * Actors: the readers of a menu, each of whom has just been told its ETag by the database.
 *
 * Guarantee: no reader gets anything older than the ETag it was told. A cached menu is served only under its own
 * ETag, so a write by another process, which changes the ETag, leads to a miss. A rebuild is shared by all readers
 * for whom it is new enough: those who were told the ETag with which it began or the one that it found, and those who
 * were told theirs before it began. At most one rebuild of a menu is shared, so a reader waits for at most two,
 * however fast writes follow. A client whose other calls occupy its share of the database rebuilds a menu for itself
 * alone, since the others would wait with it.
 *
 * Failures: readers who share a rebuild fail with it; those who only waited for its end begin the next.
 */
import { type Database, hasRoom, wholeOf } from '../db/database.ts';

interface Tagged {
  etag: string;
}

interface Rebuild<Built> {
  /** The ETag that its first reader was told. */
  since: string;
  /** Undefined when the menu is gone. */
  built: Promise<Built | undefined>;
}

interface Menus<Built> {
  kept: Map<number, Built>;
  bytes: number;
  rebuilds: Map<number, Rebuild<Built>>;
}

/**
 * The menu as it was when its ETag was told, or later; undefined if it has been deleted meanwhile.
 * @param etag what the database has just told this reader, who may read the menu.
 * @param build reads the menu for everyone who waits: it must not depend on the reader. It gets what is cached of the
 *   menu.
 */
export type KeptByTag<Built extends Tagged> = (
  database: Database,
  menuId: number,
  etag: string,
  build: (kept: Built | undefined) => Promise<Built | undefined>,
) => Promise<Built | undefined>;

/**
 * A cache of values built from menus, for each database.
 * @param maxBytes limit for all values together
 * @param bytesOf the size of one
 */
export function keptByTag<Built extends Tagged>(
  maxBytes: number,
  bytesOf: (built: Built) => number,
): KeptByTag<Built> {
  const byDatabase = new WeakMap<Database, Menus<Built>>();

  return async (database, menuId, etag, build) => {
    const menus = menusOf(wholeOf(database));
    const kept = menus.kept.get(menuId);
    if (kept?.etag === etag) return kept;
    const running = menus.rebuilds.get(menuId);
    if (running && running.since !== etag) {
      const found = await running.built.catch(() => undefined);
      if (found?.etag === etag) return found;
    }
    // A rebuild that is running after the wait began after this reader asked.
    const begun = menus.rebuilds.get(menuId);
    if (begun) return begun.built;
    // Nobody waits for a client whose other calls occupy its share.
    return hasRoom(database) ? begin(menus, menuId, etag, build).built : rebuild(menus, menuId, build);
  };

  function menusOf(database: Database): Menus<Built> {
    const menus = byDatabase.get(database) ?? { kept: new Map(), bytes: 0, rebuilds: new Map() };
    byDatabase.set(database, menus);
    return menus;
  }

  function begin(
    menus: Menus<Built>,
    menuId: number,
    since: string,
    build: (kept: Built | undefined) => Promise<Built | undefined>,
  ): Rebuild<Built> {
    const built = rebuild(menus, menuId, build).finally(() => menus.rebuilds.delete(menuId));
    const begun = { since, built };
    menus.rebuilds.set(menuId, begun);
    return begun;
  }

  async function rebuild(
    menus: Menus<Built>,
    menuId: number,
    build: (kept: Built | undefined) => Promise<Built | undefined>,
  ): Promise<Built | undefined> {
    const built = await build(menus.kept.get(menuId));
    if (built) keep(menus, menuId, built);
    return built;
  }

  // Those cached longest make room.
  function keep(menus: Menus<Built>, menuId: number, built: Built): void {
    drop(menus, menuId);
    menus.kept.set(menuId, built);
    menus.bytes += bytesOf(built);
    for (const oldest of menus.kept.keys()) {
      if (menus.bytes <= maxBytes) break;
      drop(menus, oldest);
    }
  }

  function drop(menus: Menus<Built>, menuId: number): void {
    const kept = menus.kept.get(menuId);
    menus.bytes -= kept ? bytesOf(kept) : 0;
    menus.kept.delete(menuId);
  }
}
