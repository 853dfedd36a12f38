import rateLimit, { type FastifyRateLimitStoreCtor } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { operations } from '../../generated/operations.ts';
import { tooManyRequests } from './errors.ts';
import { SharedCounts } from './shared-counts.ts';

export interface Limits {
  /** Counts a call of an authenticated client and states its quota in the response. @throws 429 */
  count(request: FastifyRequest, reply: FastifyReply, operationId: string): Promise<void>;
  /** Counts a call of a public operation by address. @throws 429 */
  countAddress(request: FastifyRequest, operationId: string): Promise<void>;
  /** Counts a refused token by address. @throws 429 in place of the 401 */
  countFailedAuthentication(request: FastifyRequest): Promise<void>;
}

const minute = 60_000;
const failuresPerMinute = 30;

/**
 * One quota for all calls of a client, and one of its own for each operation with `x-rate-limit` in the contract.
 * Windows are fixed and start with the first call.
 * @param redisUrl where processes count together; without it, and while Redis is unavailable, each counts for itself.
 * @param countsShared is told at first, and whenever it changes, whether they do.
 */
export async function createLimits(
  app: FastifyInstance,
  {
    perMinute,
    redisUrl,
    countsShared = () => {},
  }: {
    perMinute: number;
    redisUrl?: string | undefined;
    countsShared?: ((are: boolean) => void) | undefined;
  },
): Promise<Limits> {
  const store = redisUrl === undefined ? undefined : storeIn(app, redisUrl, countsShared);
  await app.register(rateLimit, { global: false, ...(store && { store }) });
  // The name is part of the key, since Redis keeps all of them in one space.
  const limit = (name: string, max: number, timeWindow: number, per: 'client' | 'address') =>
    app.createRateLimit({
      max,
      timeWindow,
      keyGenerator: ({ caller, ip }) => `${name}:${per === 'client' ? caller?.clientId : ip}`,
    });
  const clients = limit('default', perMinute, minute, 'client');
  const failures = limit('failed-authentication', failuresPerMinute, minute, 'address');
  const ofOperations = new Map<string, ReturnType<typeof limit>>();
  for (const [id, { rateLimit }] of Object.entries(operations)) {
    if (!rateLimit) continue;
    ofOperations.set(id, limit(id, rateLimit.limit, rateLimit.windowSeconds * 1000, rateLimit.per));
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

// The plugin makes its store itself; a constructor that returns an object makes that one.
function storeIn(app: FastifyInstance, url: string, observe: (isShared: boolean) => void) {
  const counts = new SharedCounts(app, { url, observe });
  return function Store() {
    return counts;
  } as unknown as FastifyRateLimitStoreCtor;
}
