/** 200 with a body. */
export function ok<const B>(body: B): Ok<B, Record<never, never>>;
export function ok<const B, const H extends object>(body: B, headers: H): Ok<B, H>;
// Overloads, since an optional `headers` would be inferred as whatever headers the contract demands.
export function ok(body: unknown, headers = {}): Ok<unknown, object> {
  return { status: 200, headers, body };
}

interface Ok<B, H> {
  status: 200;
  headers: H;
  body: B;
}

/** 200 with a body that is not JSON; a Buffer contains it in UTF-8. */
export function okAs<const M extends string, H extends object = Record<never, never>>(
  mediaType: M,
  body: string | Buffer,
  headers: H = {} as H,
) {
  return { status: 200 as const, headers, mediaType, body };
}

/** 201 with the new resource; its headers carry `Location`. */
export function created<const B, const H extends object>(body: B, headers: H) {
  return { status: 201 as const, headers, body };
}

/** 202: recorded, to be done in the background. */
export function accepted<const B, const H extends object = Record<never, never>>(
  body: B,
  headers: H = {} as H,
) {
  return { status: 202 as const, headers, body };
}

/** 204: done, nothing to show. */
export function noContent() {
  return { status: 204 as const, headers: {}, body: undefined };
}

/** 304: the client's copy is current (RFC 9110, 15.4.5). */
export function notModified(etag: string) {
  return { status: 304 as const, headers: { ETag: etag }, body: undefined };
}
