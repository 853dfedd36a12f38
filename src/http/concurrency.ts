import type { FastifyReply, FastifyRequest } from 'fastify';
import { badRequest, tooManyAtOnce } from './errors.ts';

export interface ConcurrencyLimit {
  /** An onRequest hook, to run after authentication and before the body is read. @throws 429, or 400 if the client has hung up */
  enter(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Performs the call; its place is kept until it has ended, even if the client has hung up. */
  during<T>(request: FastifyRequest, perform: () => Promise<T>): Promise<T>;
}

/**
 * Limits how many calls of one operation a client may have in progress in this process, so that no client can take
 * all its CPU time and memory with heavy calls.
 */
export function createConcurrencyLimit(limit: number): ConcurrencyLimit {
  const callsOf = new Map<string, number>();
  const places = new WeakMap<FastifyRequest, { uses: number }>();

  function leave(request: FastifyRequest): void {
    const place = places.get(request);
    if (!place || --place.uses > 0) return;
    const client = clientOf(request);
    const left = (callsOf.get(client) ?? 1) - 1;
    if (left > 0) callsOf.set(client, left);
    else callsOf.delete(client);
  }

  return {
    async enter(request, reply) {
      // While it was authenticated: no event would follow that gives its place back.
      if (reply.raw.destroyed) throw badRequest('The request was aborted.');
      const client = clientOf(request);
      const calls = callsOf.get(client) ?? 0;
      if (calls >= limit) throw tooManyAtOnce(limit);
      callsOf.set(client, calls + 1);
      places.set(request, { uses: 1 });
      reply.raw.once('close', () => leave(request));
    },
    async during(request, perform) {
      const place = places.get(request);
      if (place) place.uses += 1;
      try {
        return await perform();
      } finally {
        leave(request);
      }
    },
  };
}

function clientOf({ caller }: FastifyRequest): string {
  return caller?.clientId ?? '';
}
