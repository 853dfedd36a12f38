/** To be preloaded, a bug: an Idempotency-Key is not looked at. */
import { type IncomingMessage, Server } from 'node:http';

const emit = Server.prototype.emit as (...args: unknown[]) => boolean;
Server.prototype.emit = function (this: Server, ...args: unknown[]) {
  const [event, request] = args;
  if (event === 'request') delete (request as IncomingMessage).headers['idempotency-key'];
  return emit.apply(this, args);
} as typeof Server.prototype.emit;
