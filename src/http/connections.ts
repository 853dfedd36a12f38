import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/**
 * Ends each connection as soon as it is idle once the server closes. Node closes the idle ones a single time, at the
 * start; those that are busy then would stay for the keep-alive time.
 * @param leaving from its abort on each response is the last one on its connection, so that a proxy which keeps
 * connections has few left when the server closes.
 */
export function endConnectionsOnClose(app: FastifyInstance, leaving?: AbortSignal): void {
  let closing = false;
  app.addHook('preClose', (done) => {
    closing = true;
    const sweep = setInterval(() => app.server.closeIdleConnections(), 50);
    app.server.once('close', () => clearInterval(sweep));
    done();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (closing || leaving?.aborted) reply.header('Connection', 'close');
    done();
  });
}

/** How long a connection may take for a response, in milliseconds. */
export interface ReadingTime {
  /** Without taking anything. */
  stallMs: number;
  /** For the whole response. */
  wholeMs: number;
}

/** Destroys each connection that does not take a response in time: it would hold a descriptor and the body for ever. */
export function cutSlowReaders(
  app: FastifyInstance,
  { stallMs, wholeMs }: ReadingTime = { stallMs: 30_000, wholeMs: 300_000 },
): void {
  const unfinished = new Map<ServerResponse, { socket: Socket; since: number; isTimed: boolean }>();
  app.addHook('onSend', ({ raw: { socket } }, { raw }, _payload, done) => {
    unfinished.set(raw, { socket, since: performance.now(), isTimed: false });
    done();
  });
  app.addHook('onResponse', (_request, { raw }, done) => {
    unfinished.delete(raw);
    done();
  });
  // Nearly all are finished at once: timers are for those that a look now and then still finds.
  const look = setInterval(() => {
    for (const [response, sent] of unfinished) {
      if (sent.socket.destroyed) unfinished.delete(response);
      // Taken in drops, a response is never without progress.
      else if (performance.now() - sent.since > wholeMs) sent.socket.destroy();
      // Node's own timer: it sees how much the kernel takes, ends the connection, and is reset for the next request.
      else if (!sent.isTimed) response.setTimeout(stallMs);
      sent.isTimed = true;
    }
  }, stallMs / 10).unref();
  app.addHook('onClose', async () => clearInterval(look));
}
