import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * An onSend hook for a deprecated operation: each of its responses, errors too, says since when it is, until when it
 * is served (RFC 9745, RFC 8594) and where to read on, beside the links of the response itself.
 */
export function announceDeprecation({ Link, ...dates }: Record<'Deprecation' | 'Sunset' | 'Link', string>) {
  return async (_request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const own = reply.getHeader('Link');
    reply.headers({ ...dates, Link: own ? `${own}, ${Link}` : Link });
  };
}
