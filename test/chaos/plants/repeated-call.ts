/** A planted bug, to be preloaded: the Idempotency-Key is ignored. */
import { type IncomingMessage, Server } from 'node:http';

const emit = Server.prototype.emit as (...args: unknown[]) => boolean;
Server.prototype.emit = function (this: Server, ...args: unknown[]) {
  const [event, request] = args;
  if (event === 'request') delete (request as IncomingMessage).headers['idempotency-key'];
  return emit.apply(this, args);
} as typeof Server.prototype.emit;
