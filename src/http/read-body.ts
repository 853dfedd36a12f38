import type { FastifyRequest } from 'fastify';
import { ClientBytes } from './client-bytes.ts';
import { payloadTooLarge, tooManyInProgress } from './errors.ts';

// Of the bodies of one client that are arriving, however slowly; an import has 16 MiB.
const mostArriving = 64 * 1024 * 1024;

/** @throws 413 for a body beyond the limit of its operation, 429 when those of the client that are arriving are too much */
export type ReadBody = (request: FastifyRequest) => Promise<Buffer>;

/**
 * Reads each body into one piece of memory. Fastify keeps a list of what arrives, which takes 500 bytes for each chunk,
 * and a chunk may have a single byte.
 */
export function createBodyReader(): ReadBody {
  const arriving = new ClientBytes();

  return ({ raw, headers, caller, routeOptions }) =>
    new Promise((resolve, reject) => {
      const { bodyLimit = 0 } = routeOptions;
      if (Number(headers['content-length']) > bodyLimit) throw payloadTooLarge(bodyLimit);
      const all = caller ? arriving.of(caller.clientId) : { bytes: 0 };
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
