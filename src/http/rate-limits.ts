import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Redis } from 'ioredis';
import { operations } from '../../generated/operations.ts';
import { tooManyRequests } from './errors.ts';

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
 * @param redisUrl where processes count together; without it each counts for itself. While Redis is away nothing is
 *   counted: a restaurant's evening matters more than a quota.
 */
export async function createLimits(
  app: FastifyInstance,
  { perMinute, redisUrl }: { perMinute: number; redisUrl?: string | undefined },
): Promise<Limits> {
  const redis = redisUrl === undefined ? undefined : connectRedis(app, redisUrl);
  await app.register(rateLimit, { global: false, skipOnError: true, ...(redis && { redis }) });
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

function connectRedis(app: FastifyInstance, url: string): Redis {
  const redis = new Redis(url, { connectTimeout: 1_000, maxRetriesPerRequest: 0, enableOfflineQueue: false });
  let away = false;
  redis.on('error', (error) => {
    if (!away) app.log.error({ err: error }, 'Redis is unavailable: calls are not counted');
    away = true;
  });
  redis.on('ready', () => {
    away = false;
  });
  app.addHook('onClose', async () => redis.disconnect());
  return redis;
}
