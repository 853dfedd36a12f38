import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isCurrent } from '../http/conditional.ts';

interface CachedOptions {
  /** Unless given, a cache asks each time whether its copy is current. */
  cacheControl?: string;
}

/**
 * A handler for a text that is the same as long as the process lives, with an ETag.
 * @param write called at the first request, so that a start costs nothing; the two documents in YAML would take a fifth
 * of the time of a start
 */
export function cached(
  mediaType: string,
  write: () => string | Promise<string>,
  { cacheControl = 'no-cache' }: CachedOptions = {},
) {
  let text: Promise<{ bytes: Buffer; etag: string }> | undefined;
  return async (request: FastifyRequest, reply: FastifyReply) => {
    text ??= (async () => withTag(await write()))();
    const { bytes, etag } = await text;
    reply
      .header('ETag', etag)
      .header('Cache-Control', cacheControl)
      .header('Access-Control-Allow-Origin', '*');
    if (isCurrent(request.headers['if-none-match'], etag)) return reply.code(304).send();
    return reply.type(mediaType).send(bytes);
  };
}

function withTag(text: string) {
  return {
    bytes: Buffer.from(text),
    etag: `"${createHash('sha256').update(text).digest('hex').slice(0, 40)}"`,
  };
}
