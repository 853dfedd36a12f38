import rateLimit, { type FastifyRateLimitStoreCtor } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type OperationId, operations } from '../../generated/operations.ts';
import { tooManyRequests } from './errors.ts';
import { SharedCounts } from './shared-counts.ts';

export interface Limits {
  /** Counts a call of an authenticated client and states its quota in the response. @throws 429 */
  count(request: FastifyRequest, reply: FastifyReply, operationId: string): Promise<void>;
  /**
   * Counts credentials that were checked and found wrong, by the network they come from and by the client they name.
   * @throws 429 instead of the refusal
   */
  countFailure(request: FastifyRequest, failure: Failure): Promise<void>;
}

export interface Failure {
  operationId: OperationId;
  /** The client whose secret was wrong, whether or not that client exists. */
  clientId?: string | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The client that wrong credentials name. */
    refusedClientId: string | null;
  }
}

const minute = 60_000;
const failuresPerMinute = 30;
// Longer than any existing id; one that is sent may be far longer.
const longestClientId = 64;

/**
 * One quota for all calls of a client, and a separate one for each operation with `x-rate-limit` in the contract. If
 * that is by address, as for the token endpoint, only failures are counted. Windows are fixed and start with the first
 * call.
 *
 * Failures are counted only after the credentials were checked, so they can never lock out a caller with the right
 * ones: a limit turns a 401 into a 429 and does nothing else. Guessing is hopeless because of the length of the
 * secrets.
 * @param networkOf the unit in which the sender of a request is counted; see http/client-address.ts.
 * @param redisUrl where processes count together; without it, and while Redis is unavailable, each counts on its own.
 * @param countsShared is told initially, and whenever it changes, whether they count together.
 */
export async function createLimits(
  app: FastifyInstance,
  {
    perMinute,
    networkOf,
    redisUrl,
    countsShared = () => {},
  }: {
    perMinute: number;
    networkOf: (request: FastifyRequest) => string;
    redisUrl?: string | undefined;
    countsShared?: ((are: boolean) => void) | undefined;
  },
): Promise<Limits> {
  const counts =
    redisUrl === undefined ? undefined : new SharedCounts(app, { url: redisUrl, observe: countsShared });
  // Otherwise the first calls of a process that has just started would be counted separately.
  await counts?.tried;
  await app.register(rateLimit, { global: false, ...(counts && { store: constructorOf(counts) }) });
  app.decorateRequest('refusedClientId', null);
  const keys = {
    client: ({ caller }: FastifyRequest) => caller?.clientId,
    address: networkOf,
    refusedClient: ({ refusedClientId }: FastifyRequest) => refusedClientId,
  };
  // The name is part of the key, since Redis stores all of them in one namespace.
  const limit = (name: string, max: number, timeWindow: number, per: keyof typeof keys) =>
    app.createRateLimit({ max, timeWindow, keyGenerator: (request) => `${name}:${keys[per](request)}` });
  const clients = limit('default', perMinute, minute, 'client');
  const failures = limit('failed-authentication', failuresPerMinute, minute, 'address');
  const failuresOfClients = limit('failed-client', failuresPerMinute, minute, 'refusedClient');
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
      refuseExceeded(quota);
    },
    async countFailure(request, { operationId, clientId }) {
      refuseExceeded(await (ofOperations.get(operationId) ?? failures)(request));
      if (clientId === undefined) return;
      // Only now, so that an address adds few names to the counts.
      request.refusedClientId = clientId.slice(0, longestClientId);
      refuseExceeded(await failuresOfClients(request));
    },
  };
}

function refuseExceeded(quota: Awaited<ReturnType<ReturnType<FastifyInstance['createRateLimit']>>>): void {
  if (!quota.isAllowed && quota.isExceeded) throw tooManyRequests(Math.max(1, quota.ttlInSeconds));
}

// The plugin creates its store itself; a constructor that returns an object makes it use that one.
function constructorOf(counts: SharedCounts): FastifyRateLimitStoreCtor {
  return function Store() {
    return counts;
  } as unknown as FastifyRateLimitStoreCtor;
}
