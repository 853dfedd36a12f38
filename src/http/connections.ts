import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/**
 * Once the server closes, ends each connection as soon as it is idle. Node closes the idle ones only once, at the
 * start; those that are busy then would stay for the keep-alive time.
 * @param leaving once aborted, each response is the last one on its connection, so that a proxy that keeps connections
 *   open has few left when the server closes.
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
  /** Without reading anything. */
  stallMs: number;
  /** For the whole response. */
  wholeMs: number;
}

interface Sent {
  response: ServerResponse;
  since: number;
  isTimed: boolean;
}

/** Destroys each connection that does not read a response in time: it would hold a descriptor and the body forever. */
export function cutSlowReaders(
  app: FastifyInstance,
  { stallMs, wholeMs }: ReadingTime = { stallMs: 30_000, wholeMs: 300_000 },
): void {
  // Stored by connection: a Map that gains and loses an entry with each response keeps alive what has passed through
  // it.
  const unfinished = new Map<Socket, Sent[]>();
  const sentOn = (socket: Socket) => {
    const sent: Sent[] = [];
    if (socket.destroyed) return sent;
    unfinished.set(socket, sent);
    socket.once('close', () => unfinished.delete(socket));
    return sent;
  };
  app.addHook('onSend', ({ raw: { socket } }, { raw }, _payload, done) => {
    const sent = unfinished.get(socket) ?? sentOn(socket);
    // After an error in a later hook, the response is sent again.
    if (!sent.some(({ response }) => response === raw))
      sent.push({ response: raw, since: performance.now(), isTimed: false });
    done();
  });
  app.addHook('onResponse', ({ raw: { socket } }, { raw }, done) => {
    const sent = unfinished.get(socket);
    const place = sent?.findIndex(({ response }) => response === raw) ?? -1;
    if (place >= 0) sent?.splice(place, 1);
    done();
  });
  // Nearly all responses finish at once: only those that this periodic check still finds get a timer.
  const look = setInterval(() => {
    for (const [socket, responses] of unfinished) {
      for (const sent of responses) {
        // A response that is read drop by drop is never without progress.
        if (performance.now() - sent.since > wholeMs) socket.destroy();
        // Node's own timer: it sees how much the kernel takes, ends the connection, and is reset for the next request.
        else if (!sent.isTimed) sent.response.setTimeout(stallMs);
        sent.isTimed = true;
      }
    }
  }, stallMs / 10).unref();
  app.addHook('onClose', async () => clearInterval(look));
}
