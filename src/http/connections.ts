import type { FastifyInstance } from 'fastify';

/**
 * Ends each connection as soon as it is idle once the server closes. Node closes the idle ones a single time, at the
 * start; those that are busy then would stay for the keep-alive time.
 */
export function endConnectionsOnClose(app: FastifyInstance): void {
  let closing = false;
  app.addHook('preClose', (done) => {
    closing = true;
    const sweep = setInterval(() => app.server.closeIdleConnections(), 50);
    app.server.once('close', () => clearInterval(sweep));
    done();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (closing) reply.header('Connection', 'close');
    done();
  });
}
