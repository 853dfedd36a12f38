import { StringDecoder } from 'node:string_decoder';
import { type Dispatcher, errors } from 'undici';
import { BlockedAddress, type Destination } from './destination.ts';
import { UnresolvedHost } from './names.ts';
import { parseRetryAfter } from './retry-schedule.ts';
import { sign } from './signature.ts';

/** One attempt to deliver an event: `body` is its JSON text, the same on every attempt. */
export interface Attempt {
  url: string;
  secrets: readonly string[];
  eventId: string;
  body: string;
  /** The time to sign, by the clock that all processes share (the database's): receivers refuse a wrong one. */
  sentAt: Date;
}

export interface AttemptResult {
  /** The receiver responded 2xx, whole, and in time. */
  ok: boolean;
  /** The HTTP status, or null when no response began. */
  status: number | null;
  /** What failed apart from the status, in words that name no host or address. */
  error: string | null;
  durationMs: number;
  /** The first kilobyte of the response body as text without NUL; null when it was empty. */
  responseExcerpt: string | null;
  /** The delay that a 429 or 503 asked for. */
  retryAfterMs?: number;
  /** The receiver wants no more of this (410). */
  gone: boolean;
}

/** Makes one attempt at an endpoint, signed and guarded. */
export type Send = (attempt: Attempt) => Promise<AttemptResult>;

/**
 * Returns a function that signs an attempt, posts it, and always returns a result: it never throws, and never takes
 * longer than `timeoutMs` from connecting to the last byte of the response, whatever the receiver does. Redirects are
 * not followed. A response longer than `maxResponseBytes` is cut off and counts by its status.
 *
 * Source: Standard Webhooks 1.0.0, "Webhook headers" and "Delivery success and failure".
 */
export function createSender(options: {
  destination: Destination;
  userAgent: string;
  timeoutMs?: number;
  maxResponseBytes?: number;
}): Send {
  const { destination, userAgent, timeoutMs = 15_000, maxResponseBytes = 16_384 } = options;
  return ({ url, secrets, eventId, body, sentAt }) =>
    new Promise((resolve) => {
      const exchange = new Exchange(sentAt, timeoutMs, maxResponseBytes, resolve);
      try {
        const { origin, pathname, search } = new URL(url);
        const timestamp = Math.floor(sentAt.getTime() / 1000);
        const bytes = Buffer.from(body);
        const headers = {
          'content-type': 'application/json',
          'user-agent': userAgent,
          'webhook-id': eventId,
          'webhook-timestamp': String(timestamp),
          'webhook-signature': sign(secrets, eventId, timestamp, bytes),
        };
        destination.dispatcher.dispatch(
          { origin, path: pathname + search, method: 'POST', headers, body: bytes },
          exchange,
        );
      } catch (error) {
        exchange.onResponseError(null, error);
      }
    });
}

const excerptBytes = 1024;

/**
 * One request and its response. It takes undici's own callbacks rather than its `request`, whose stream, abort
 * signal and promise cost half as much time again; the first end of any kind settles it.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #started = performance.now();
  readonly #sentAt: Date;
  readonly #timer: NodeJS.Timeout;
  readonly #maxBytes: number;
  readonly #resolve: (result: AttemptResult) => void;
  #controller: Dispatcher.DispatchController | null = null;
  #settled = false;
  #status: number | null = null;
  #retryAfterMs: number | undefined;
  #received = 0;
  #excerpt: Buffer[] = [];

  constructor(sentAt: Date, timeoutMs: number, maxBytes: number, resolve: (result: AttemptResult) => void) {
    this.#sentAt = sentAt;
    this.#maxBytes = maxBytes;
    this.#resolve = resolve;
    this.#timer = setTimeout(() => this.#cutOff('timeout'), timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // A connection that comes up too late must not carry a request that was already reported as failed.
    if (this.#settled) throw new Error('the attempt is over');
    this.#controller = controller;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.#status = status;
    if (status === 429 || status === 503) {
      const asked = headers['retry-after'];
      const now = new Date(this.#sentAt.getTime() + this.#elapsedMs());
      this.#retryAfterMs = parseRetryAfter(Array.isArray(asked) ? asked[0] : asked, now);
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#received < excerptBytes) this.#excerpt.push(chunk.subarray(0, excerptBytes - this.#received));
    this.#received += chunk.length;
    if (this.#received > this.#maxBytes) this.#cutOff(this.#verdict());
  }

  onResponseEnd(): void {
    this.#settle(this.#verdict());
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: unknown): void {
    this.#settle(inWords(error));
  }

  #verdict(): string | null {
    const redirected = this.#status !== null && this.#status >= 300 && this.#status < 400;
    return redirected ? 'redirect not followed' : null;
  }

  #elapsedMs(): number {
    return Math.round(performance.now() - this.#started);
  }

  #cutOff(error: string | null): void {
    this.#settle(error);
    this.#controller?.abort(new Error('cut off'));
  }

  #settle(error: string | null): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#timer);
    const status = this.#status;
    this.#resolve({
      ok: error === null && status !== null && status < 300,
      status,
      error,
      durationMs: this.#elapsedMs(),
      responseExcerpt: asText(this.#excerpt),
      ...(this.#retryAfterMs === undefined ? {} : { retryAfterMs: this.#retryAfterMs }),
      gone: status === 410,
    });
  }
}

/** The decoder drops a character whose last bytes were cut off, and replaces what is not UTF-8. */
function asText(chunks: readonly Buffer[]): string | null {
  if (chunks.length === 0) return null;
  return new StringDecoder('utf8').write(Buffer.concat(chunks)).replaceAll('\0', '');
}

/** Only these words leave the process: the messages of Node and undici name addresses and ports. */
function inWords(error: unknown): string {
  if (error instanceof BlockedAddress) return 'blocked_address';
  if (error instanceof UnresolvedHost) return 'host name not resolved';
  if (error instanceof errors.HTTPParserError) return 'response is not HTTP/1.1';
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const words = wordsByCode[code];
  if (words !== undefined) return words;
  if (code.startsWith('ERR_SSL_')) return 'tls: handshake failed';
  return /CERT|CRL|_CA$/.test(code) ? 'tls: certificate not accepted' : 'request failed';
}

const wordsByCode: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection closed early',
  EPIPE: 'connection closed early',
  UND_ERR_SOCKET: 'connection closed early',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'connection closed early',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'host unreachable',
  EADDRNOTAVAIL: 'host unreachable',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'response headers too large',
  UND_ERR_DESTROYED: 'sender stopped',
  ERR_INVALID_URL: 'invalid url',
  UND_ERR_INVALID_ARG: 'invalid request',
  EPROTO: 'tls: handshake failed',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls: self-signed certificate',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls: self-signed certificate',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls: issuer not trusted, or an intermediate certificate is missing',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls: issuer not trusted, or an intermediate certificate is missing',
  CERT_HAS_EXPIRED: 'tls: certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'tls: certificate is for another host',
};
