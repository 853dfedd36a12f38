import type { FastifyBaseLogger } from 'fastify';
import type { Redis } from 'ioredis';
import { openRedis, reconnectMs } from '../redis.ts';
import { type Lsn, laterOf } from './lsn.ts';

/*
 * How far each account has written and read. The processes share this in Redis. While Redis is unavailable no process
 * knows, so none reads from a replica. When it is back, a process waits until the others must have noticed as well;
 * then all accounts are assumed to have seen everything that the primary has, which includes what was not shared
 * meanwhile.
 */

export interface PositionsOptions {
  redisUrl: string;
  /** How far behind a replica may be, in ms, to be read from: positions older than that need not be stored. */
  maxLagMs: number;
  log: FastifyBaseLogger;
  /** Where the primary is. */
  primaryPosition: () => Promise<Lsn>;
}

/** Longer than another process takes to find Redis again. */
const settlingMs = 3_000;

const ofAll = 'menus:position:all';

export class Positions {
  readonly #redis: Redis;
  readonly #options: PositionsOptions;
  readonly #lifetimeMs: number;
  #timer: NodeJS.Timeout | undefined;
  #isKnown = false;
  /** Something may not have been shared. */
  #hasMissed = false;

  constructor(options: PositionsOptions) {
    this.#options = options;
    this.#lifetimeMs = options.maxLagMs + 60_000;
    this.#redis = openRedis(options.redisUrl);
    this.#redis.on('error', (error) => this.#lose(error));
    this.#redis.on('close', () => this.#lose(new Error('the connection to Redis has ended')));
    this.#redis.on('ready', () => void this.#settle());
  }

  /**
   * How far the account has written or read.
   * @returns null if it has not done so lately, so that any replica will do; undefined if that is unknown.
   */
  async of(accountId: number): Promise<Lsn | null | undefined> {
    if (!this.#isKnown) return undefined;
    try {
      const [own, all] = await this.#redis.mget(keyOf(accountId), ofAll);
      return laterOf((own ?? undefined) as Lsn | undefined, (all ?? undefined) as Lsn | undefined) ?? null;
    } catch (error) {
      this.#lose(error as Error);
      return undefined;
    }
  }

  /** Records that these accounts have written or read this far. Does nothing while Redis is unavailable. */
  async raise(accountIds: readonly number[], position: Lsn): Promise<void> {
    if (accountIds.length === 0) return;
    await this.#raise(accountIds.map(keyOf), position).catch((error) => this.#lose(error));
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#redis.removeAllListeners('close').disconnect();
  }

  async #raise(keys: string[], position: Lsn): Promise<void> {
    await this.#redis.eval(raise, keys.length, ...keys, position, this.#lifetimeMs);
  }

  #lose(error: Error): void {
    if (this.#isKnown)
      this.#options.log.error({ err: error }, 'Redis is unavailable: everything is read from the primary');
    this.#isKnown = false;
    this.#hasMissed = true;
    // The command was too late, but the connection still works.
    if (this.#redis.status === 'ready') this.#retry();
  }

  #retry(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#settle(), reconnectMs).unref();
  }

  async #settle(): Promise<void> {
    clearTimeout(this.#timer);
    // A process that has just started has shared everything it knows.
    if (!this.#hasMissed) {
      this.#isKnown = true;
      return;
    }
    try {
      await this.#raise([ofAll], await this.#options.primaryPosition());
      this.#hasMissed = false;
      this.#timer = setTimeout(() => void this.#settle(), settlingMs).unref();
    } catch {
      if (this.#redis.status === 'ready') this.#retry();
    }
  }
}

function keyOf(accountId: number): string {
  return `menus:position:${accountId}`;
}

const raise = `
  for _, key in ipairs(KEYS) do
    local known = redis.call('get', key)
    if not known or known < ARGV[1] then redis.call('set', key, ARGV[1], 'px', ARGV[2]) end
  end`;
