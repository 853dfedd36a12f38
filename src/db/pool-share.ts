import type { LentClient, Turn, WatchedPool } from './pool.ts';
import { DatabaseUnavailable, ShareTaken } from './unavailable.ts';

// A little longer than the pool waits for a connection, so that the pool is the first to report that it has none.
const queueMs = 3_200;
// A server that is silent for this long on every connection is unavailable.
const silenceMs = 2_500;

interface Waiting {
  enter: () => void;
  fail: (error: Error) => void;
}

/**
 * What one client may use of a pool: half of its connections, so that no client can occupy all of them with heavy
 * statements, or with statements that wait for locks. Calls beyond that wait here, in order of arrival.
 */
export class PoolShare {
  readonly options: WatchedPool['options'];
  readonly limits: WatchedPool['limits'];
  readonly #pool: WatchedPool;
  readonly #most: number;
  readonly #waiting = new Set<Waiting>();
  #held = 0;

  constructor(pool: WatchedPool) {
    this.#pool = pool;
    this.options = pool.options;
    this.limits = pool.limits;
    this.#most = Math.ceil((pool.options.max ?? 1) / 2);
  }

  /** As of the pool. @throws ShareTaken when the client's other statements leave no room for too long a time */
  connect(patienceMs = this.limits.silenceMs): Promise<LentClient> {
    if (this.#held === this.#most)
      return this.#queue().then((waitedMs) => this.#pool.connect(patienceMs, this.#turn(waitedMs)));
    this.#held += 1;
    return this.#pool.connect(patienceMs, this.#turn(0));
  }

  #turn(waitedMs: number): Turn {
    return {
      waitedMs,
      end: () => this.#leave(),
      fail: (error) => {
        // Those that wait would have to wait as long again, in vain.
        for (const waiting of this.#waiting) waiting.fail(error);
        this.#leave();
      },
    };
  }

  /** @returns how long it has waited, in ms. */
  #queue(): Promise<number> {
    return new Promise((resolve, reject) => {
      const since = performance.now();
      const end = () => {
        clearTimeout(timer);
        this.#waiting.delete(waiting);
      };
      const waiting: Waiting = {
        enter: () => {
          end();
          resolve(performance.now() - since);
        },
        fail: (error) => {
          end();
          reject(error);
        },
      };
      const timer = setTimeout(() => waiting.fail(this.#absence()), queueMs);
      this.#waiting.add(waiting);
    });
  }

  #absence(): Error {
    const isSilent = this.#pool.silentMs > silenceMs;
    return isSilent ? new DatabaseUnavailable(new Error('the database says nothing')) : new ShareTaken();
  }

  /** The place passes to the first in the queue. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next) next.enter();
    else this.#held -= 1;
  }
}
