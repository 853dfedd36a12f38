import type { LentClient, Turn, WatchedPool } from './pool.ts';
import { DatabaseUnavailable, ShareTaken } from './unavailable.ts';

// A little longer than the pool waits for a connection, so that the pool is the first to report that it has none.
const queueMs = 3_200;

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
      return this.#queue().then(() => this.#pool.connect(patienceMs, this.#turn()));
    this.#held += 1;
    return this.#pool.connect(patienceMs, this.#turn());
  }

  /** Whether another statement of the client would begin at once. */
  get hasRoom(): boolean {
    return this.#held < this.#most;
  }

  get isIdle(): boolean {
    return this.#held === 0;
  }

  #turn(): Turn {
    return {
      end: () => this.#leave(),
      fail: (error) => {
        // Those that wait would have to wait as long again, in vain.
        for (const waiting of this.#waiting) waiting.fail(error);
        this.#leave();
      },
    };
  }

  /** Its time is not the server's: a statement that begins late may take as long as any other. */
  #queue(): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        this.#waiting.delete(waiting);
      };
      const waiting: Waiting = {
        enter: () => {
          end();
          resolve();
        },
        fail: (error) => {
          end();
          reject(error);
        },
      };
      const timer = setTimeout(async () => waiting.fail(await this.#absence()), queueMs);
      this.#waiting.add(waiting);
    });
  }

  async #absence(): Promise<Error> {
    const isThere = await this.#pool.isHeard();
    return isThere ? new ShareTaken() : new DatabaseUnavailable(new Error('the database says nothing'));
  }

  /** The place passes to the first in the queue. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next) next.enter();
    else this.#held -= 1;
  }
}
