/**
 * Compresses the bodies of responses of all routes, in separate threads. A body that is a Buffer may be sent
 * repeatedly: it is compressed once for each coding, and the compressed forms live as long as it does. Other bodies are
 * compressed for their one request.
 *
 * Handlers know nothing of this. The ETag of a compressed response has the coding as its suffix, which is removed from
 * If-Match and If-None-Match before they reach the handlers: each names the same state of the resource.
 */
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { acceptedCodings, type Coding, codedETag, codings, withoutCodings } from './content-coding.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** As it was sent; in `headers`, handlers see the ETags that they created. */
    sentIfNoneMatch: string | undefined;
  }
}

// Below this size, compression saves less than a packet.
const leastBytes = 1024;
// Node has four threads, which name look-ups and files need as well.
const mostAtOnce = 3;

/** Must be called after all `onSend` hooks that look at bodies are added, and before the routes. */
export function compressResponses(app: FastifyInstance): void {
  app.decorateRequest('sentIfNoneMatch', undefined);
  app.addHook('onRequest', (request, _reply, done) => {
    readETags(request);
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    if (reply.statusCode === 304) {
      addVary(reply, 'Accept-Encoding');
      confirmETag(request, reply);
    }
    if (!isCompressible(reply, payload)) return done(null, payload);
    addVary(reply, 'Accept-Encoding');
    const coding = chooseCoding(request, payload);
    if (coding === 'identity') return done(null, payload);
    markCoded(reply, coding);
    if (isStream(payload))
      return done(null, request.method === 'HEAD' ? payload : compressedStream(payload, coding));
    compressed(payload, coding, effortFor(reply, coding)).then((bytes) => done(null, bytes), done);
  });
}

/** Names a request header that the response depends on, in addition to those already named. */
export function addVary(reply: FastifyReply, name: string): void {
  const others = reply.getHeader('vary');
  reply.header('Vary', others === undefined ? name : `${others}, ${name}`);
}

type Body = string | Buffer | Readable;

/*
 * A response that must not be stored contains a secret, and possibly also text that another party has chosen: its
 * compressed length would reveal how similar the two are (the BREACH attack).
 */
function isCompressible(reply: FastifyReply, payload: unknown): payload is Body {
  return (
    (typeof payload === 'string' || Buffer.isBuffer(payload) || isStream(payload)) &&
    reply.statusCode !== 206 &&
    !reply.hasHeader('content-encoding') &&
    reply.getHeader('cache-control') !== 'no-store' &&
    /^(text\/|image\/svg|application\/(.+\+)?(json|yaml|javascript)\b)/.test(
      String(reply.getHeader('content-type')),
    )
  );
}

function isStream(payload: unknown): payload is Readable {
  return typeof (payload as Readable | null)?.pipe === 'function';
}

/** If none of the codings is acceptable, the body is sent uncompressed: the header may be disregarded. */
function chooseCoding({ headers }: FastifyRequest, payload: Body): Coding | 'identity' {
  const accepted = acceptedCodings(headers['accept-encoding']);
  const [best = 'identity'] = accepted;
  if (best === 'identity' || !accepted.includes('identity') || isStream(payload)) return best;
  if (payload.length < leastBytes && Buffer.byteLength(payload) < leastBytes) return 'identity';
  // Late is worse than long.
  return underWay < mostAtOnce || isKept(payload, best) ? best : 'identity';
}

function markCoded(reply: FastifyReply, coding: Coding): void {
  reply.header('Content-Encoding', coding).removeHeader('content-length');
  const eTag = reply.getHeader('etag');
  if (typeof eTag === 'string') reply.header('ETag', codedETag(eTag, coding));
}

const kept = new WeakMap<Buffer, Map<Coding, Promise<Buffer>>>();

function isKept(body: string | Buffer, coding: Coding): boolean {
  return typeof body !== 'string' && kept.get(body)?.has(coding) === true;
}

function compressed(body: string | Buffer, coding: Coding, effort: number): Promise<Buffer> {
  if (typeof body === 'string') return compress(body, coding, effort);
  const forms = kept.get(body) ?? new Map<Coding, Promise<Buffer>>();
  kept.set(body, forms);
  const form = forms.get(coding) ?? compress(body, coding, effort);
  forms.set(coding, form);
  form.catch(() => forms.delete(coding));
  return form;
}

let underWay = 0;

async function compress(body: string | Buffer, coding: Coding, effort: number): Promise<Buffer> {
  underWay += 1;
  try {
    return await (coding === 'br'
      ? brotliAsync(body, brotliOptions(effort))
      : gzipAsync(body, { level: effort }));
  } finally {
    underWay -= 1;
  }
}

function compressedStream(body: Readable, coding: Coding): Readable {
  const compressor =
    coding === 'br'
      ? createBrotliCompress(brotliOptions(usualEffort.br))
      : createGzip({ level: usualEffort.gzip });
  // A failure ends the response, which is all that can be done about it.
  return pipeline(body, compressor, () => {});
}

const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify<string | Buffer, { level: number }, Buffer>(gzip);
const brotliOptions = (effort: number) => ({ params: { [constants.BROTLI_PARAM_QUALITY]: effort } });

// A level of gzip and a quality of Brotli. One more takes Brotli up to three times as long, for 0 to 3 % of a menu.
const usualEffort = { gzip: 4, br: 3 };

/** Bodies that never change are compressed once in the life of the process, and are worth more work. */
const effortFor = (reply: FastifyReply, coding: Coding): number =>
  /\bimmutable\b/.test(String(reply.getHeader('cache-control'))) ? 6 : usualEffort[coding];

/*
 * If-None-Match only matches a coding that this request accepts: a cache may ask on behalf of one client with the ETags
 * that it stores for another (RFC 9111, 4.3.1).
 */
function readETags(request: FastifyRequest): void {
  const { headers } = request.raw;
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  if (ifMatch !== undefined) headers['if-match'] = withoutCodings(ifMatch, codings);
  if (ifNoneMatch === undefined) return;
  request.sentIfNoneMatch = ifNoneMatch;
  headers['if-none-match'] = withoutCodings(ifNoneMatch, acceptedCodings(headers['accept-encoding']));
}

/** A 304 carries the ETag of the client's copy, so that the client can find that copy (RFC 9111, 4.3.4). */
function confirmETag({ headers, sentIfNoneMatch = '' }: FastifyRequest, reply: FastifyReply): void {
  const eTag = reply.getHeader('etag');
  if (typeof eTag !== 'string') return;
  const possible = acceptedCodings(headers['accept-encoding']).map((coding) => codedETag(eTag, coding));
  reply.header('ETag', possible.find((one) => sentIfNoneMatch.includes(one)) ?? eTag);
}
