import { Redis } from 'ioredis';

/**
 * A connection to Redis for features that can do without it: a command fails at once while Redis is unavailable, and
 * after a tenth of a second without a response; a dead connection is replaced.
 */
export function openRedis(url: string): Redis {
  return new Redis(url, {
    connectTimeout: 1_000,
    commandTimeout: 100,
    socketTimeout: 5_000,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    retryStrategy: () => reconnectMs,
  });
}

/** How long after the loss of a connection the next one is tried. */
export const reconnectMs = 500;
