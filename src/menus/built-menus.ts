import type { EncodedJson } from '../db/json.ts';
import { keptByTag } from './kept-by-tag.ts';
import type { MenuDetail } from './menu-detail.ts';

export interface Built {
  etag: string;
  body: EncodedJson<{ data: MenuDetail }>;
}

/** Bodies of whole menus, kept in this process. Building one costs the database about 10 µs an item. */
export const builtMenu = keptByTag<Built>(64 * 1024 * 1024, ({ body }) => body.length);
