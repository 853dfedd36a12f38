import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { WatchedClient, type WatchedClientConfig } from './client.ts';
import { Diagnosis } from './diagnosis.ts';
import { DatabaseUnavailable, noteUndone } from './unavailable.ts';

/*
 * A pool whose connections are always in a known state. It checks all of them ten times a second, so watching costs
 * statements nothing.
 *
 * A connection that leaves a statement without a response for too long is reset. The statement may be lost or may still
 * be executed, so its caller learns that the database is unavailable; but no caller ever gets a connection on which a
 * statement or transaction of another one is open. A connection that is returned with one open is reset as well.
 *
 * Idle connections that have been silent since the silent one was last used are assumed to be dead too: otherwise each
 * of them would cost a caller the same wait.
 *
 * A server that refuses writes may have been demoted while another one took over its name: connections are then
 * renewed, except for new ones.
 *
 * Time counts only while this process runs: after a suspension, responses have arrived but have not been read yet.
 */

export interface PoolLimits {
  /** How long an ordinary statement and the wait for its connection may take together. */
  silenceMs: number;
  /** The same for work that takes long by its nature. */
  longSilenceMs: number;
  /** How old a connection must be to be renewed when its server refuses writes. */
  renewMs: number;
  /** How long nothing may be heard on any connection before the process asks whether it is stuck. */
  stuckMs: number;
}

export type WatchedPoolConfig = Omit<pg.PoolConfig, 'Client'> & WatchedClientConfig;

/** Why connections were given up, and how many. */
export type Discards = Record<'silent' | 'unclean' | 'outdated', number>;

const tickMs = 100;
// A server that has said nothing for so long, or does not respond so soon when it is asked, is away.
const quietMs = 2_500;
const replyMs = 600;

/** A connection that is lent until its `release`. */
export type LentClient = WatchedClient & Pick<pg.PoolClient, 'release'>;

/** The right to one connection out of a limited number. */
export interface Turn {
  /** Called when the connection is released. */
  end(): void;
  /** Called when there is none. */
  fail(error: DatabaseUnavailable): void;
}

function endWith(client: LentClient, turn: Turn): void {
  const { release } = client;
  client.release = (error) => {
    release(error);
    turn.end();
  };
}

/** The rows of one statement on any connection. */
export async function rowsFrom<Row>(
  pool: Pick<WatchedPool, 'connect'>,
  text: string,
  values: unknown[],
): Promise<Row[]> {
  const client = await pool.connect();
  try {
    const { rows } = await client.query(text, values);
    return rows as Row[];
  } catch (error) {
    // Class 08 concerns the connection, and a proxy may have reported it.
    const isReported = error instanceof pg.DatabaseError && !error.code?.startsWith('08');
    if (isReported && !client.isComplete) noteUndone(error);
    throw error;
  } finally {
    client.release();
  }
}

export class WatchedPool {
  readonly options: WatchedPoolConfig;
  readonly limits: PoolLimits;
  /** The disk of the server was full, and no write has been tried since. */
  diskWasFull = false;
  readonly discards: Discards = { silent: 0, unclean: 0, outdated: 0 };
  readonly diagnosis: Diagnosis;
  readonly #pool: pg.Pool;
  readonly #clients = new Set<WatchedClient>();
  #timer: NodeJS.Timeout | undefined;
  #tickedAt = 0;
  #now = 0;
  #heardAt = 0;
  #hasHeard = false;
  #hasFailed = false;
  #reply: Promise<boolean> | undefined;

  constructor(config: WatchedPoolConfig, limits: PoolLimits) {
    this.options = config;
    this.limits = limits;
    this.#pool = new pg.Pool({ ...config, Client: WatchedClient as typeof pg.Client });
    this.diagnosis = new Diagnosis({
      patienceMs: limits.stuckMs,
      tryPool: () => this.#tryPool(),
      tryAnew: () => this.#tryAnew(),
    });
    // A connection that dies is replaced by the pool, and what ran on it is rejected; but without a listener an idle
    // one would end the process.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => this.#add(client as unknown as WatchedClient));
    this.#pool.on('release', (_error, client) => this.#takeBack(client as unknown as WatchedClient));
  }

  /**
   * @param patienceMs how long a statement may take.
   * @param turn the turn in which the connection is used.
   * @throws DatabaseUnavailable when there is no connection in time
   */
  async connect(patienceMs = this.limits.silenceMs, turn?: Turn): Promise<LentClient> {
    this.#timer ??= this.#start();
    const askedAt = this.#now;
    try {
      const client = (await this.#pool.connect()) as unknown as LentClient;
      const waitedMs = this.#now - askedAt;
      // Messages to its previous user do not count for the next one.
      if (waitedMs > 0 && client.hasHeard()) this.#note(client);
      client.lend(patienceMs, waitedMs);
      if (turn) endWith(client, turn);
      return client;
    } catch (cause) {
      this.#hasFailed = true;
      const error = new DatabaseUnavailable(cause);
      turn?.fail(error);
      throw error;
    }
  }

  /** Replaces all but new connections, as their server may no longer be the right one. */
  renew(): void {
    for (const client of this.#clients) {
      if (client.openedAt > this.#now - this.limits.renewMs) continue;
      client.isRetired = true;
      if (client.isIdle) this.#discard(client, 'outdated');
    }
  }

  /** Ends its connections; has no effect when called again. */
  async end(): Promise<void> {
    if (this.#pool.ending) return;
    await this.#pool.end();
    clearInterval(this.#timer);
  }

  /** Whether the server has said anything lately; it is asked if not, as all statements may be waiting for locks. */
  async isHeard(): Promise<boolean> {
    if (this.#now - this.#heardAt <= quietMs) return true;
    this.#reply ??= Promise.race([this.#tryPool().then(() => true), pause(replyMs, false)])
      .catch(() => false)
      .finally(() => {
        this.#reply = undefined;
      });
    return this.#reply;
  }

  get use(): { busy: number; idle: number; waiting: number } {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  #start(): NodeJS.Timeout {
    this.#tickedAt = performance.now();
    return setInterval(() => this.#watch(), tickMs).unref();
  }

  #add(client: WatchedClient): void {
    client.once('end', () => this.#clients.delete(client));
    client.connection.on('errorMessage', ({ code }: { code?: string }) => this.#heed(client, code ?? ''));
    client.openedAt = this.#now;
    client.hasHeard();
    this.#clients.add(client);
  }

  #takeBack(client: WatchedClient): void {
    if (client.isClean) client.isIdle = true;
    else if (this.#clients.has(client)) this.#discard(client, client.isRetired ? 'outdated' : 'unclean');
  }

  #watch(): void {
    const tickedAt = performance.now();
    const ms = Math.min(tickedAt - this.#tickedAt, 2 * tickMs);
    this.#tickedAt = tickedAt;
    let wanted = this.#hasFailed || this.#pool.waitingCount > 0;
    for (const client of this.#clients) {
      if (client.hasHeard()) {
        this.#note(client);
        client.silentMs = 0;
      } else if (client.isBusy) {
        wanted = true;
        client.silentMs += ms;
        if (client.silentMs >= this.#patienceWith(client)) this.#giveUp(client);
      }
    }
    this.diagnosis.note({ heard: this.#hasHeard, wanted, ms });
    this.#hasHeard = false;
    this.#hasFailed = false;
    this.#now += ms;
  }

  #note(client: WatchedClient): void {
    this.#hasHeard = true;
    this.#heardAt = this.#now;
    client.heardAt = this.#now;
  }

  #patienceWith({ isBeginning, patienceMs }: WatchedClient): number {
    return isBeginning ? Math.min(patienceMs, this.limits.silenceMs) : patienceMs;
  }

  #giveUp(client: WatchedClient): void {
    // With some tolerance, as both times are only known to a tick.
    const since = this.#now + 2 * tickMs - client.silentMs;
    this.#discard(client, 'silent');
    for (const other of this.#clients)
      if (other.isIdle && other.heardAt <= since) this.#discard(other, 'silent');
  }

  // What an error says about the server; the caller of the statement gets the error itself.
  #heed(client: WatchedClient, code: string): void {
    if (code === '53100') this.diskWasFull = true;
    // The server does not know a statement prepared on this connection: something in between switches sessions.
    if (code === '26000') client.isRetired = true;
    if (code === '25006') this.renew();
  }

  #discard(client: WatchedClient, why: keyof Discards): void {
    this.#clients.delete(client);
    this.discards[why] += 1;
    client.abandon(new DatabaseUnavailable(new Error(`a connection to the database was given up: ${why}`)));
  }

  async #tryPool(): Promise<void> {
    const client = await this.connect();
    try {
      await client.query('select 1');
    } finally {
      client.release();
    }
  }

  async #tryAnew(): Promise<void> {
    const client = new pg.Client({ ...this.options, query_timeout: Math.min(this.limits.silenceMs, 4_000) });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query('select 1');
    } finally {
      client.connection.stream.destroy();
    }
  }
}
