import cors from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';

export interface CrossOrigin {
  /** Responds to preflights and adds the headers. Must be called before other hooks that may refuse a request. */
  register(app: FastifyInstance): Promise<void>;
  /** The headers of a response to a page of this origin, for responses that no hook sees. */
  headersFor(origin: string | undefined): Record<string, string>;
  /** The same for a request that could not be parsed, given its bytes. */
  headersOfPacket(packet: Buffer | undefined): Record<string, string>;
}

/** Response headers of the contract that a page could not read otherwise. */
export const exposedHeaders = [
  ...[
    'Allow',
    'Content-Encoding',
    'Deprecation',
    'ETag',
    'Idempotency-Replayed',
    'Link',
    'Location',
    'RateLimit',
    'RateLimit-Policy',
  ],
  ...['Retry-After', 'Sunset', 'WWW-Authenticate', 'X-Request-Id'],
];

/** Request headers of the contract that a page could not send otherwise. */
export const allowedHeaders = [
  ...['Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match', 'If-None-Match', 'X-Request-Id'],
];

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'];
// The longest that browsers cache a preflight.
const preflightSeconds = 7_200;

/**
 * Lets pages of these origins call the API from a browser (CORS, https://fetch.spec.whatwg.org/#http-cors-protocol).
 * Callers send a bearer token, which browsers never add on their own, so credentials in the sense of CORS are not
 * allowed.
 */
export function allowOrigins(origins: readonly string[]): CrossOrigin {
  const exposed = exposedHeaders.join(', ');
  const headersFor: CrossOrigin['headersFor'] = (origin) => ({
    Vary: 'Origin',
    ...(origin !== undefined &&
      origins.includes(origin) && {
        'Access-Control-Allow-Origin': origin,
        'Access-Control-Expose-Headers': exposed,
      }),
  });
  return {
    headersFor,
    headersOfPacket: (packet) =>
      headersFor(/^origin:[ \t]*(\S+)[ \t]*\r?$/im.exec(packet?.toString('latin1') ?? '')?.[1]),
    async register(app) {
      await app.register(cors, {
        delegator: async (request: FastifyRequest) => ({
          origin: [...origins],
          methods,
          allowedHeaders,
          exposedHeaders,
          maxAge: preflightSeconds,
          // Any other OPTIONS is refused like every method that is not served.
          preflight:
            request.headers.origin !== undefined &&
            request.headers['access-control-request-method'] !== undefined,
        }),
      });
    },
  };
}
