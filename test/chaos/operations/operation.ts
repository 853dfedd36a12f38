import type { Kept, Known } from '../known.ts';
import type { Effect, Fields } from '../model.ts';
import type { Random } from '../random.ts';

/** A request to send, and what it does to records. */
export interface Operation {
  name: string;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below /api/v1. */
  path: string;
  body?: object;
  headers?: Record<string, string>;
  /** The copy that a client has, when it asks whether that is still current. */
  kept?: Kept;
  /** The existing record that it concerns, if any: a 404 means that it was deleted. */
  target?: string;
  /** Absent for reads. */
  effect?: Effect;
  /** The records that it changed, according to its response. */
  // biome-ignore lint/suspicious/noExplicitAny: the contract check has validated it
  changed?: (data: any) => string[];
}

/** Draws an operation; undefined when there is no record for it. `mark` makes its values unique. */
export type Draw = (random: Random, known: Known, mark: number) => Operation | undefined;

export function oneOf(random: Random, known: Known, kind: string, menuId?: number): Fields | undefined {
  const all = known.all(kind, menuId);
  return all.length > 0 ? random.pick(all) : undefined;
}

export function nameOf(kind: string, fields: Record<string, unknown>): string {
  return `${kind}:${fields[`${kind}_id`]}`;
}

export function pathOf(kind: string, fields: Fields): string {
  const { location_id, menu_id, category_id, item_id } = fields;
  if (kind === 'location') return `/locations/${location_id}`;
  if (kind === 'menu') return `/menus/${menu_id}`;
  return kind === 'category'
    ? `/menus/${menu_id}/categories/${category_id}`
    : `/menus/${menu_id}/items/${item_id}`;
}
