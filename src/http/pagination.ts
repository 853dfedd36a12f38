import { hash } from 'node:crypto';
import type { Json } from '../db/json.ts';
import { isCurrent } from './conditional.ts';
import { parameterError } from './errors.ts';
import { notModified, ok } from './reply.ts';

/** The parameters of a list statement: the rows after the id `after`, one more than fits on the page. */
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
 * @throws 422 for one in any other form, which no response has contained.
 */
export function readCursor(cursor: string, form: RegExp): string {
  const id = /^[A-Za-z0-9_-]{2,128}$/.test(cursor) ? Buffer.from(cursor, 'base64url').toString() : '';
  if (form.test(id)) return id;
  throw parameterError([{ field: 'cursor', code: 'cursor', message: 'is not a cursor of this list' }]);
}

/** A cursor that readCursor reads. */
export function writeCursor(id: string | number): string {
  return Buffer.from(String(id)).toString('base64url');
}

/**
 * `{"data": […], "next_cursor": …}`, with a Link header (RFC 8288) if there is a next page.
 * @param cutAt the last id that was examined, if more may follow what was found.
 */
export function page<T>(
  rows: ListRow<T>[],
  { limit }: Pick<PageRequest, 'limit'>,
  url: string,
  cutAt?: number | string,
): { body: Json<{ data: T[]; next_cursor: string | null }>; headers: { Link?: string } } {
  const shown = rows.slice(0, limit - 1);
  const last = rows.length === limit ? shown.at(-1) : undefined;
  const end = last?.id ?? cutAt;
  const cursor = end === undefined ? undefined : writeCursor(end);
  const list = shown.map((row) => row.resource).join(',');
  return {
    body: `{"data":[${list}],"next_cursor":${JSON.stringify(cursor ?? null)}}` as Json<{
      data: T[];
      next_cursor: string | null;
    }>,
    headers: cursor === undefined ? {} : nextLink(url, cursor),
  };
}

/**
 * The page, or 304 if the client's copy is the same. The ETag is a digest of the body, so whatever changes the page
 * (a write, a time that has come, the grant of the client) also changes the ETag.
 * @param call the URL of the page, and the ETag of the client's copy.
 * @param cutAt as for `page`.
 */
export function pageResponse<T>(
  rows: ListRow<T>[],
  request: Pick<PageRequest, 'limit'>,
  { url, headers }: { url: string; headers: { 'if-none-match'?: string } },
  cutAt?: number | string,
) {
  const { body, headers: link } = page(rows, request, url, cutAt);
  const etag = `"${hash('sha256', body, 'base64url').slice(0, 24)}"`;
  if (isCurrent(headers['if-none-match'], etag)) return notModified(etag);
  return ok(body, { ...link, ETag: etag });
}

/** The Link header (RFC 8288) that leads from the URL of one page to the next. */
export function nextLink(url: string, cursor: string): { Link: string } {
  const start = url.includes('?') ? url.indexOf('?') : url.length;
  const parameters = new URLSearchParams(url.slice(start + 1));
  parameters.set('cursor', cursor);
  return { Link: `<${url.slice(0, start)}?${parameters}>; rel="next"` };
}
