import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { operations } from '../../generated/operations.ts';
import { tooManyRequests } from './errors.ts';

export interface Limits {
  /** Counts a call of an authenticated client and tells its quota in the answer. @throws 429 */
  count(request: FastifyRequest, reply: FastifyReply, operationId: string): Promise<void>;
  /** Counts a call of a public operation by address. @throws 429 */
  countAddress(request: FastifyRequest, operationId: string): Promise<void>;
  /** Counts a refused token by address. @throws 429 in place of the 401 */
  countFailedAuthentication(request: FastifyRequest): Promise<void>;
}

const minute = 60_000;
const failuresPerMinute = 30;

/**
 * One quota for all calls of a client, and one of its own for each operation with `x-rate-limit` in the
 * contract. Windows are fixed and start with the first call.
 */
export async function createLimits(app: FastifyInstance, perMinute: number): Promise<Limits> {
  await app.register(rateLimit, { global: false });
  const clientKey = (request: FastifyRequest) => request.caller?.clientId ?? '';
  const clients = app.createRateLimit({ max: perMinute, timeWindow: minute, keyGenerator: clientKey });
  const failures = app.createRateLimit({
    max: failuresPerMinute,
    timeWindow: minute,
    keyGenerator: ({ ip }) => ip,
  });
  const ofOperations = new Map<string, ReturnType<typeof app.createRateLimit>>();
  for (const [id, { rateLimit }] of Object.entries(operations)) {
    if (!rateLimit) continue;
    const keyGenerator = rateLimit.per === 'address' ? ({ ip }: FastifyRequest) => ip : clientKey;
    const timeWindow = rateLimit.windowSeconds * 1000;
    ofOperations.set(id, app.createRateLimit({ max: rateLimit.limit, timeWindow, keyGenerator }));
  }

  return {
    async count(request, reply, operationId) {
      const own = ofOperations.get(operationId);
      const quota = await (own ?? clients)(request);
      if (quota.isAllowed) return;
      // draft-ietf-httpapi-ratelimit-headers: q quota, w window, r remaining, t time to its end in seconds
      const name = own ? operationId : 'default';
      reply.header('RateLimit-Policy', `"${name}";q=${quota.max};w=${quota.timeWindow / 1000}`);
      reply.header('RateLimit', `"${name}";r=${quota.remaining};t=${quota.ttlInSeconds}`);
      if (quota.isExceeded) throw tooManyRequests(Math.max(1, quota.ttlInSeconds));
    },
    async countAddress(request, operationId) {
      const quota = await ofOperations.get(operationId)?.(request);
      if (quota && !quota.isAllowed && quota.isExceeded)
        throw tooManyRequests(Math.max(1, quota.ttlInSeconds));
    },
    async countFailedAuthentication(request) {
      const quota = await failures(request);
      if (!quota.isAllowed && quota.isExceeded) throw tooManyRequests(Math.max(1, quota.ttlInSeconds));
    },
  };
}
