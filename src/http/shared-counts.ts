import type { FastifyInstance } from 'fastify';
import type { Redis } from 'ioredis';
import { openRedis } from '../db/redis.ts';

/*
 * Counts that processes share in Redis. A call never waits for Redis longer than a tenth of a second: while Redis is
 * unavailable or silent, this process counts on its own, and checks every second whether Redis is back.
 */

export interface SharedCountsOptions {
  url: string;
  /** Is told initially, and whenever it changes, whether counts are shared. */
  observe: (isShared: boolean) => void;
}

/** How often a key was counted in its current window, which ends in `ttl` milliseconds. */
interface Count {
  current: number;
  ttl: number;
}

type Callback = (error: Error | null, count?: Count) => void;

const probeMs = 1_000;
const mostOwn = 10_000;

/** A store for @fastify/rate-limit. */
export class SharedCounts {
  readonly #redis: Redis;
  readonly #log: FastifyInstance['log'];
  readonly #observe: (isShared: boolean) => void;
  #own = new Map<string, { current: number; until: number }>();
  #isShared = false;
  #isProbing = false;
  #hasComplained = false;
  readonly #tried = Promise.withResolvers<void>();
  /** Resolves, within about a second, as soon as it is known whether Redis can be used. */
  readonly tried = this.#tried.promise;

  constructor(app: FastifyInstance, { url, observe }: SharedCountsOptions) {
    this.#log = app.log;
    this.#observe = observe;
    this.#redis = openRedis(url);
    this.#redis.on('error', (error) => this.#lose(error));
    this.#redis.on('ready', () => void this.#probe());
    const probing = setInterval(() => this.#isShared || void this.#probe(), probeMs).unref();
    app.addHook('onClose', async () => {
      clearInterval(probing);
      this.#redis.disconnect();
    });
    observe(false);
  }

  incr(key: string, callback: Callback, windowMs: number): void {
    if (!this.#isShared) {
      callback(null, this.#countHere(key, windowMs));
      return;
    }
    this.#redis.eval(count, 1, `menus:${key}`, windowMs).then(
      (counted) => {
        const [current, ttl] = counted as [number, number];
        callback(null, { current, ttl });
      },
      () => {
        callback(null, this.#countHere(key, windowMs));
        void this.#probe();
      },
    );
  }

  child(): this {
    return this;
  }

  // A command may also seem late because this process was busy, so a second one decides.
  async #probe(): Promise<void> {
    if (this.#isProbing) return;
    this.#isProbing = true;
    try {
      await this.#redis.ping();
      this.#find();
    } catch (error) {
      this.#lose(error as Error);
    } finally {
      this.#isProbing = false;
    }
  }

  #lose(error: Error): void {
    if (!this.#hasComplained)
      this.#log.error({ err: error }, 'Redis is unavailable: each process counts calls for itself');
    this.#hasComplained = true;
    if (this.#isShared) this.#observe(false);
    this.#isShared = false;
    this.#tried.resolve();
  }

  #find(): void {
    if (this.#isShared) return;
    if (this.#hasComplained) this.#log.info('Redis is back: calls are counted together again');
    this.#hasComplained = false;
    this.#isShared = true;
    this.#own = new Map();
    this.#observe(true);
    this.#tried.resolve();
  }

  #countHere(key: string, windowMs: number): Count {
    const now = performance.now();
    let counted = this.#own.get(key);
    if (!counted || counted.until <= now) {
      this.#own.delete(key);
      // Under a flood from many addresses, the oldest count is dropped instead of searching all of them.
      const [oldest] = this.#own.keys();
      if (oldest !== undefined && this.#own.size >= mostOwn) this.#own.delete(oldest);
      counted = { current: 0, until: now + windowMs };
      this.#own.set(key, counted);
    }
    counted.current += 1;
    return { current: counted.current, ttl: Math.ceil(counted.until - now) };
  }
}

const count = `
  local current = redis.call('incr', KEYS[1])
  if current == 1 then redis.call('pexpire', KEYS[1], ARGV[1]) end
  return {current, redis.call('pttl', KEYS[1])}`;
