import type { FastifyRequest } from 'fastify';
import { payloadTooLarge, tooManyInProgress } from './errors.ts';

// Of the bodies of one client that are arriving, however slowly; an import has 16 MiB.
const mostArriving = 64 * 1024 * 1024;
const mostClients = 10_000;

/** @throws 413 for a body beyond the limit of its operation, 429 when those of the client that are arriving are too much */
export type ReadBody = (request: FastifyRequest) => Promise<Buffer>;

interface Arriving {
  bytes: number;
}

/**
 * Reads each body into one piece of memory. Fastify keeps a list of what arrives, which takes 500 bytes for each chunk,
 * and a chunk may have a single byte.
 */
export function createBodyReader(): ReadBody {
  const clients = new Map<string, Arriving>();

  function arrivingOf(clientId: string | undefined): Arriving {
    const known = clientId === undefined ? undefined : clients.get(clientId);
    const arriving = known ?? { bytes: 0 };
    if (known || clientId === undefined) return arriving;
    if (clients.size >= mostClients)
      for (const [id, { bytes }] of clients) if (bytes === 0) clients.delete(id);
    clients.set(clientId, arriving);
    return arriving;
  }

  return ({ raw, headers, caller, routeOptions }) =>
    new Promise((resolve, reject) => {
      const { bodyLimit = 0 } = routeOptions;
      if (Number(headers['content-length']) > bodyLimit) throw payloadTooLarge(bodyLimit);
      const all = arrivingOf(caller?.clientId);
      let body = Buffer.alloc(0);
      let length = 0;
      const add = (chunk: Buffer) => {
        const before = length;
        length += chunk.length;
        all.bytes += chunk.length;
        if (length > bodyLimit) return fail(payloadTooLarge(bodyLimit));
        if (all.bytes > mostArriving) return fail(tooManyInProgress());
        if (length > body.length) {
          const larger = Buffer.allocUnsafe(Math.max(length, Math.min(2 * body.length, bodyLimit)));
          body.copy(larger, 0, 0, before);
          body = larger;
        }
        chunk.copy(body, before);
      };
      const leave = () => {
        raw.off('data', add).off('end', finish).off('error', fail);
        all.bytes -= length;
      };
      const finish = () => {
        leave();
        resolve(length === body.length ? body : Buffer.from(body.subarray(0, length)));
      };
      const fail = (error: Error) => {
        leave();
        reject(error);
      };
      raw.on('data', add).on('end', finish).on('error', fail);
    });
}
