import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * An onSend hook for a deprecated operation. Each of its responses, errors included, says since when it is
 * deprecated, until when it is served (RFC 9745, RFC 8594) and where to read more, beside the response's own links.
 */
export function announceDeprecation({ Link, ...dates }: Record<'Deprecation' | 'Sunset' | 'Link', string>) {
  return async (_request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const own = reply.getHeader('Link');
    reply.headers({ ...dates, Link: own ? `${own}, ${Link}` : Link });
  };
}
