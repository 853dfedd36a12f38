/**
 * The body of getMenu, patched: parts that have not changed are taken from an earlier body. One statement returns the
 * tag of each part, and the text of those whose tag is unknown, so that the body shows a single moment.
 */
import { setImmediate } from 'node:timers/promises';
import type { Database } from '../db/database.ts';
import type { EncodedJson } from '../db/json.ts';
import { type MenuDetail, type Segment, selectMenuSegments } from './menu-detail.ts';

export interface MenuBody {
  etag: string;
  body: EncodedJson<{ data: MenuDetail }>;
  /** Its parts, by their tags: views of the body. */
  segments: ReadonlyMap<string, Buffer>;
}

/**
 * Reads the whole menu, for all who may read it; undefined when there is none.
 * @param before an earlier body of the menu.
 */
export async function readMenuBody(
  database: Database,
  menu_id: number,
  before?: MenuBody,
): Promise<MenuBody | undefined> {
  const rows = await selectMenuSegments(database, {
    menu_id,
    known_tags: [...(before?.segments.keys() ?? [])],
  });
  const [menu] = rows;
  if (!menu) return undefined;
  // A large text is encoded in a separate turn of the event loop, since decoding the database's response has just taken
  // one. It waits two turns, since the first comes before other requests get theirs.
  const characters = rows.reduce((sum, { text }) => sum + (text?.length ?? 0), 0);
  for (let turn = 0; turn < 2 && characters > 1_048_576; turn += 1) await setImmediate();
  const pieces = piecesOf(rows, before?.segments ?? new Map());
  const body = Buffer.concat(pieces.map(({ bytes }) => bytes));
  const segments = new Map<string, Buffer>();
  let at = 0;
  for (const { tag, bytes } of pieces) {
    if (tag !== undefined) segments.set(tag, body.subarray(at, at + bytes.length));
    at += bytes.length;
  }
  return { etag: menu.tag, body: body as unknown as MenuBody['body'], segments };
}

/** Bytes of the body; with a tag if the next body may reuse them. */
interface Piece {
  tag?: string;
  bytes: Buffer;
}

/** Records that contain others come without their closing brace: their contents follow. */
function piecesOf(rows: readonly Segment[], known: ReadonlyMap<string, Buffer>): Piece[] {
  const pieces: Piece[] = [];
  const put = (text: string) => pieces.push({ bytes: Buffer.from(text) });
  const take = ({ tag, text }: Segment, whole: boolean) => {
    const bytes = text === null ? known.get(tag) : Buffer.from(whole ? text : text.slice(0, -1));
    if (!bytes) throw new Error(`segment ${tag} is not known`);
    pieces.push({ tag, bytes });
  };
  const [menu, ...others] = rows;
  const [contents, groups] = [
    others.filter(({ kind }) => kind !== 'group'),
    others.filter(({ kind }) => kind === 'group'),
  ];
  put('{"data":');
  if (menu) take(menu, false);
  put(',"categories":[');
  let before: Segment | undefined;
  for (const one of contents) {
    if (one.kind === 'category') {
      if (before) put(']}, ');
      take(one, false);
      put(',"items":[');
    } else {
      if (before?.kind === 'items') put(', ');
      take(one, true);
    }
    before = one;
  }
  put(before ? ']}],"modifier_groups":[' : '],"modifier_groups":[');
  for (const [place, group] of groups.entries()) {
    if (place > 0) put(', ');
    take(group, true);
  }
  put(']}}');
  return pieces;
}
