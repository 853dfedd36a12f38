import type { FastifyInstance } from 'fastify';
import { ClientBytes } from './client-bytes.ts';
import { tooManyInProgress } from './errors.ts';

const mostUnread = 128 * 1024 * 1024;
// A client may leave thousands of smaller ones unread within its quota.
const leastCounted = 16_384;

/**
 * Bounds what a client can make the process keep by reading its responses slowly: further calls get 429 before they do
 * anything. A body that is a Buffer is kept for others too, or limited otherwise, and does not count. To be called
 * before responses are compressed.
 */
export function boundUnreadResponses(app: FastifyInstance): void {
  const unread = new ClientBytes();
  app.addHook('preHandler', ({ caller }, _reply, done) => {
    done(caller && unread.of(caller.clientId).bytes > mostUnread ? tooManyInProgress() : undefined);
  });
  app.addHook('onSend', ({ caller }, { raw }, payload, done) => {
    if (caller && typeof payload === 'string' && payload.length >= leastCounted && !raw.destroyed) {
      const all = unread.of(caller.clientId);
      all.bytes += payload.length;
      raw.once('close', () => {
        all.bytes -= payload.length;
      });
    }
    done();
  });
}
