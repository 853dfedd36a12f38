import { keptByTag } from './kept-by-tag.ts';
import type { MenuBody } from './menu-body.ts';

/** Bodies of whole menus, cached in this process. */
export const builtMenu = keptByTag<MenuBody>(
  64 * 1024 * 1024,
  ({ body, segments }) => body.length + segmentBytes * segments.size,
);

// The size of a view with its tag.
const segmentBytes = 250;
