import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ClientBytes } from './client-bytes.ts';
import { tooManyInProgress } from './errors.ts';

/** To be called before the response to a read is sent. @throws 429 while the client leaves too much unread */
export type RequireFewUnread = (request: FastifyRequest) => void;

const mostUnread = 128 * 1024 * 1024;
// A client may leave thousands of smaller ones unread within its quota.
const leastCounted = 16_384;

/**
 * Bounds what a client can make the process keep by reading its responses slowly: further calls get 429 before they do
 * anything, and so do reads that had begun before. A Buffer that several of its responses send counts once: it may be a
 * menu, kept for all who read it, but each version of the menu is another. To be called after responses are compressed,
 * as that form is what stays.
 */
export function boundUnreadResponses(app: FastifyInstance): RequireFewUnread {
  const unread = new ClientBytes();
  const responsesWith = new WeakMap<Buffer, Map<string, number>>();

  /** Counts one response more or less. @returns how many others of the client have this body */
  function others(body: string | Buffer, clientId: string, change: 1 | -1): number {
    if (typeof body === 'string') return 0;
    const byClient = responsesWith.get(body) ?? new Map<string, number>();
    responsesWith.set(body, byClient);
    const before = byClient.get(clientId) ?? 0;
    byClient.set(clientId, before + change);
    return Math.min(before, before + change);
  }

  const requireFewUnread: RequireFewUnread = ({ caller }) => {
    if (caller && unread.of(caller.clientId).bytes > mostUnread) throw tooManyInProgress();
  };

  app.addHook('preHandler', (request, _reply, done) => {
    requireFewUnread(request);
    done();
  });
  app.addHook('onSend', ({ caller }, { raw }, payload, done) => {
    if (caller && isCounted(payload) && !raw.destroyed) {
      const { clientId } = caller;
      const bytes = Buffer.byteLength(payload);
      if (others(payload, clientId, 1) === 0) unread.of(clientId).bytes += bytes;
      raw.once('close', () => {
        if (others(payload, clientId, -1) === 0) unread.of(clientId).bytes -= bytes;
      });
    }
    done();
  });
  return requireFewUnread;
}

function isCounted(payload: unknown): payload is string | Buffer {
  return (typeof payload === 'string' || Buffer.isBuffer(payload)) && payload.length >= leastCounted;
}
