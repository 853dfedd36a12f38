import type { Json } from '../db/json.ts';
import { parameterError } from './errors.ts';

/** What a list statement is asked for: the rows after `after` by id, one more than the page holds. */
export interface PageRequest {
  after: number;
  limit: number;
}

/** One row of a list: its id, which is the order of the list and becomes the cursor, and the resource. */
export interface ListRow<T> {
  id: number | string;
  resource: Json<T>;
}

/**
 * Reads `limit` and `cursor`. A cursor is the last id seen, so pages neither skip nor repeat a record while
 * others write.
 * @throws 422 for a cursor that no response has contained.
 */
export function pageRequest(query: { limit?: number; cursor?: string }): PageRequest {
  const limit = (query.limit ?? 100) + 1;
  if (query.cursor === undefined) return { after: 0, limit };
  return { after: Number(readCursor(query.cursor, /^[1-9]\d{0,15}$/)), limit };
}

/**
 * The id in a cursor.
 * @throws 422 for one without this form, which no response has contained.
 */
export function readCursor(cursor: string, form: RegExp): string {
  const id = /^[A-Za-z0-9_-]{2,64}$/.test(cursor) ? Buffer.from(cursor, 'base64url').toString() : '';
  if (form.test(id)) return id;
  throw parameterError([{ field: 'cursor', code: 'cursor', message: 'is not a cursor of this list' }]);
}

/** `{"data": […], "next_cursor": …}` with its Link header (RFC 8288) when there is a next page. */
export function page<T>(
  rows: ListRow<T>[],
  { limit }: Pick<PageRequest, 'limit'>,
  url: string,
): { body: Json<{ data: T[]; next_cursor: string | null }>; headers: { Link?: string } } {
  const shown = rows.slice(0, limit - 1);
  const last = rows.length === limit ? shown.at(-1) : undefined;
  const cursor = last && Buffer.from(String(last.id)).toString('base64url');
  const list = shown.map((row) => row.resource).join(',');
  return {
    body: `{"data":[${list}],"next_cursor":${JSON.stringify(cursor ?? null)}}` as Json<{
      data: T[];
      next_cursor: string | null;
    }>,
    headers: cursor === undefined ? {} : { Link: `<${nextUrl(url, cursor)}>; rel="next"` },
  };
}

function nextUrl(url: string, cursor: string): string {
  const start = url.includes('?') ? url.indexOf('?') : url.length;
  const parameters = new URLSearchParams(url.slice(start + 1));
  parameters.set('cursor', cursor);
  return `${url.slice(0, start)}?${parameters}`;
}
