import type { components } from '../../generated/api.ts';

export type FieldError = components['schemas']['FieldError'];

/** An error of the API; http/problem.ts writes it as RFC 9457 problem details. */
export class ApiError extends Error {
  readonly status: number;
  readonly title: string;
  readonly code: string;
  readonly headers: Record<string, string>;
  readonly errors: FieldError[] | undefined;

  constructor(
    status: number,
    title: string,
    code: string,
    detail: string,
    more: { headers?: Record<string, string>; errors?: FieldError[] } = {},
  ) {
    super(detail);
    this.status = status;
    this.title = title;
    this.code = code;
    this.headers = more.headers ?? {};
    this.errors = more.errors;
  }
}

/** 400: a header is not valid, or the request cannot be parsed. */
export function badRequest(detail: string): ApiError {
  return new ApiError(400, 'Bad Request', 'bad_request', detail);
}

/** 400 that ends the connection: nobody knows for sure where the request ends, and where the next one begins. */
export function ambiguousRequest(detail: string): ApiError {
  return new ApiError(400, 'Bad Request', 'bad_request', detail, { headers: { Connection: 'close' } });
}

/** RFC 6750, section 3: without credentials the challenge has no error code. */
export function unauthorized(detail: string, code: 'unauthorized' | 'invalid_token'): ApiError {
  const challenge =
    code === 'unauthorized' ? 'Bearer' : `Bearer error="invalid_token", error_description="${detail}"`;
  return new ApiError(401, 'Unauthorized', code, detail, { headers: { 'WWW-Authenticate': challenge } });
}

/** 403: the token has none of these scopes, each of which would suffice (RFC 6750, section 3.1). */
export function insufficientScope(scopes: readonly string[]): ApiError {
  return new ApiError(
    403,
    'Forbidden',
    'insufficient_scope',
    `This call needs the scope ${scopes.join(' or ')}.`,
  );
}

/** 403: the caller may not act on the record, or may not do this at all. */
export function forbidden(detail: string): ApiError {
  return new ApiError(403, 'Forbidden', 'forbidden', detail);
}

/** 404: there is no such record or path. */
export function notFound(detail: string): ApiError {
  return new ApiError(404, 'Record Not Found', 'not_found', detail);
}

/** 405. @param allow the methods of the path, as the `Allow` header lists them */
export function methodNotAllowed(method: string, allow: string): ApiError {
  return new ApiError(
    405,
    'Method Not Allowed',
    'method_not_allowed',
    `${method} is not allowed here. Allowed: ${allow}.`,
    {
      headers: { Allow: allow },
    },
  );
}

/** 406. @param offered the media types of the response */
export function notAcceptable(offered: readonly string[]): ApiError {
  const detail = `This response is available as ${offered.join(' or ')}.`;
  return new ApiError(406, 'Not Acceptable', 'not_acceptable', detail);
}

/** The request conflicts with another one in progress, or with the state of the record; `detail` says how. */
export function conflict(detail: string): ApiError {
  return new ApiError(409, 'Conflict', 'conflict', detail);
}

/** The first call with this Idempotency-Key has no response yet. */
export function idempotencyConflict(): ApiError {
  return new ApiError(
    409,
    'Conflict',
    'idempotency_conflict',
    'An earlier call with this Idempotency-Key is still in progress. Retry a moment later.',
  );
}

/** 412: the record's ETag is none of those in `If-Match`. */
export function preconditionFailed(): ApiError {
  return new ApiError(
    412,
    'Precondition Failed',
    'precondition_failed',
    'The record has changed: its ETag matches none of those in If-Match. Read it again before you retry.',
  );
}

/** 413: the body has more bytes than the operation accepts. */
export function payloadTooLarge(limitBytes: number): ApiError {
  return new ApiError(
    413,
    'Payload Too Large',
    'payload_too_large',
    `The body may have at most ${limitBytes} bytes.`,
  );
}

/** 414: the URL has more characters than the limit. */
export function uriTooLong(limit: number): ApiError {
  return new ApiError(414, 'URI Too Long', 'uri_too_long', `The URL may have at most ${limit} characters.`);
}

/** 431: the headers together, or one of them, are too long. */
export function headersTooLarge(detail: string): ApiError {
  return new ApiError(431, 'Request Header Fields Too Large', 'headers_too_large', detail);
}

/** 415. @param accepted the media types that the operation accepts */
export function unsupportedMediaType(accepted: readonly string[]): ApiError {
  return new ApiError(
    415,
    'Unsupported Media Type',
    'unsupported_media_type',
    `Send the body as ${accepted.join(' or ')}, in UTF-8 and without a Content-Encoding.`,
  );
}

/** The maximum number of errors that a response lists. */
export const listedErrors = 100;

/** Collects errors; keeps one more than a response lists, to show that there are more. */
export class ErrorList implements Iterable<FieldError> {
  readonly #kept: FieldError[] = [];

  add(...errors: FieldError[]): void {
    for (const error of errors) if (!this.isFull) this.#kept.push(error);
  }

  get isFull(): boolean {
    return this.#kept.length > listedErrors;
  }

  get isEmpty(): boolean {
    return this.#kept.length === 0;
  }

  [Symbol.iterator](): Iterator<FieldError> {
    return this.#kept.values();
  }
}

/** 422: lists the errors of body and parameters, up to `listedErrors` of them. */
export function parameterError(errors: readonly FieldError[]): ApiError {
  const listed = errors.slice(0, listedErrors);
  const messages = listed.map((error) => `${error.field || 'body'} ${error.message}`).join('; ');
  const detail =
    errors.length > listed.length
      ? `The first ${listed.length} errors; there are more: ${messages}`
      : messages;
  return new ApiError(422, 'Parameter Error', 'parameter_error', detail.slice(0, 1000).toWellFormed(), {
    errors: listed,
  });
}

/** 429: the client or the address has used up its rate limit. */
export function tooManyRequests(retryAfterSeconds: number): ApiError {
  return new ApiError(429, 'Too Many Requests', 'rate_limited', `Retry in ${retryAfterSeconds} s.`, {
    headers: { 'Retry-After': String(retryAfterSeconds) },
  });
}

/** The client already has as many calls of this operation in progress as it may have. */
export function tooManyAtOnce(limit: number): ApiError {
  return concurrencyLimited(`At most ${limit} of these calls at a time. Retry when one has ended.`);
}

/** The client's calls in progress take so long that this one could not begin. */
export function tooManyInProgress(): ApiError {
  return concurrencyLimited('Too many calls of this client are in progress. Retry when some have ended.');
}

function concurrencyLimited(message: string): ApiError {
  return new ApiError(429, 'Too Many Requests', 'concurrency_limited', message, {
    headers: { 'Retry-After': '1' },
  });
}

/** The client has as many Idempotency-Keys as it may have; the oldest expires in this many seconds. */
export function tooManyKeys(retryAfterSeconds: number): ApiError {
  return new ApiError(
    429,
    'Too Many Requests',
    'idempotency_keys_exhausted',
    `Too many calls with an Idempotency-Key in 24 hours. The oldest key ends in ${retryAfterSeconds} s.`,
    { headers: { 'Retry-After': String(retryAfterSeconds) } },
  );
}

/**
 * 503: the database cannot be reached or does not accept the statement; whether it took effect may be unknown.
 */
export function serviceUnavailable(): ApiError {
  return new ApiError(
    503,
    'Service Unavailable',
    'service_unavailable',
    'The database is unavailable. Retry later.',
    {
      headers: { 'Retry-After': '1' },
    },
  );
}

/** 500, without a detail: nothing internal leaves the service. */
export function internalError(): ApiError {
  return new ApiError(500, 'Internal Server Error', 'internal_error', 'An internal error occurred.');
}

/** An error of the token endpoint, in the shape of RFC 6749, section 5.2. */
export class OAuthFailure extends Error {
  readonly error: components['schemas']['OAuthError']['error'];

  constructor(error: components['schemas']['OAuthError']['error'], description: string) {
    super(description);
    this.error = error;
  }

  get status(): 400 | 401 {
    return this.error === 'invalid_client' ? 401 : 400;
  }
}

/** The credentials of a client are missing or wrong: invalid_client of RFC 6749, section 5.2. */
export class RefusedClient extends OAuthFailure {
  /** The client that they name. */
  readonly clientId: string | undefined;

  constructor(description: string, clientId?: string) {
    super('invalid_client', description);
    this.clientId = clientId;
  }
}
