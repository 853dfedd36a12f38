/**
 * Reads from streaming replicas without clients noticing.
 *
 * Actors: the calls of the accounts, in any number of processes; replicas that replay the primary's log, each at its
 * own pace; the watch of this process, which asks all servers for their positions five times a second.
 *
 * Guarantee: no call of an account is served from an older state than an earlier call of that account has seen or
 * produced, in any process. Before its response, each call records the position of the server that served it, and a
 * replica is read only if it has reached the position recorded for the account. The position belongs to the account,
 * not the client, since clients tell each other what they have read, and webhooks report what was written: the worker
 * records the position of what it delivers.
 *
 * Cost: one query to the server after the call, shared by all calls that end at the same time, and a round trip to
 * Redis before and after.
 *
 * Failures: a replica that is gone, silent, promoted or too far behind is no longer used within a second, thanks to the
 * watch, or as soon as a call fails on it, which the primary then serves. Without Redis the primary serves everything.
 */
import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '../database.ts';
import { isUnavailable } from '../unavailable.ts';
import { Lag } from './lag.ts';
import type { Lsn } from './lsn.ts';
import { Positions } from './positions.ts';
import { primaryStanding, Replica } from './replica.ts';
import { shareLooks } from './share-looks.ts';

export interface ReplicasOptions {
  urls: readonly string[];
  /** Connections to each, at most. */
  max: number;
  redisUrl: string;
  /** How far a replica may be behind to be read, in ms. */
  maxLagMs: number;
}

const watchMs = 200;
const patienceMs = 500;

export class Replicas {
  readonly #primary: Database;
  readonly #options: ReplicasOptions;
  readonly #replicas: Replica[];
  #positions: Positions | undefined;
  #log: FastifyBaseLogger | undefined;
  readonly #lag = new Lag();
  readonly #served = new Map<Replica, number>();
  readonly #lookAtPrimary: () => Promise<Lsn>;
  #system = '';
  #turn = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(primary: Database, options: ReplicasOptions) {
    this.#primary = primary;
    this.#options = options;
    this.#replicas = options.urls.map((url) => new Replica(url, options));
    this.#lookAtPrimary = shareLooks(async () => {
      const askedAt = performance.now();
      const { position, system } = await primaryStanding(primary);
      this.#system = system;
      this.#lag.note(position, askedAt);
      return position;
    });
  }

  /** Begins to watch the replicas; until then everything is read from the primary. */
  start(log: FastifyBaseLogger): void {
    this.#log = log;
    this.#positions = new Positions({ ...this.#options, log, primaryPosition: this.#lookAtPrimary });
    void this.#watch();
  }

  /** Serves a call that only reads, from a replica if one is up to date enough. */
  async read<T>(accountId: number, perform: (database: Database) => Promise<T>): Promise<T> {
    const noted = await this.#positions?.of(accountId);
    const replica = noted === undefined ? undefined : this.#choose(noted);
    if (noted === undefined || !replica) return this.write(accountId, perform);
    const outcome = await this.#readFrom(replica, { accountId, noted }, perform);
    // Nothing was changed, so it can be done again.
    return outcome ? outcome() : this.write(accountId, perform);
  }

  /** Serves a call from the primary. */
  async write<T>(accountId: number, perform: (database: Database) => Promise<T>): Promise<T> {
    const outcome = await settled(perform(this.#primary));
    await this.note([accountId]);
    return outcome();
  }

  /** Records that these accounts have seen what the primary has now. */
  async note(accountIds: readonly number[]): Promise<void> {
    // If the primary is gone, so is anything newer than the replicas.
    const position = await this.#lookAtPrimary().catch(() => undefined);
    if (position) await this.#positions?.raise(accountIds, position);
  }

  /** For each replica: whether it is read from, how far it is behind, and how many calls it has served. */
  get use(): { name: string; isRead: boolean; behindMs: number; served: number }[] {
    return this.#replicas.map((replica) => ({
      name: replica.name,
      isRead: replica.leftOut === undefined,
      behindMs: replica.behindMs,
      served: this.#served.get(replica) ?? 0,
    }));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#positions?.close();
    await Promise.all(this.#replicas.map(({ database }) => database.destroy()));
  }

  /** Undefined when the replica fails. */
  async #readFrom<T>(
    replica: Replica,
    { accountId, noted }: { accountId: number; noted: Lsn | null },
    perform: (database: Database) => Promise<T>,
  ): Promise<(() => T) | undefined> {
    try {
      const outcome = await settled(perform(replica.database));
      const { replayed } = await replica.look();
      if (noted === null || replayed > noted) await this.#positions?.raise([accountId], replayed);
      this.#served.set(replica, (this.#served.get(replica) ?? 0) + 1);
      return outcome;
    } catch (error) {
      // A statement cancelled because it blocked replay says nothing about the health of the replica.
      if ((error as { code?: string }).code !== '40001') this.#leaveOut(replica, (error as Error).message);
      return undefined;
    }
  }

  /** In turn, among those that have reached the required position. */
  #choose(needed: Lsn | null): Replica | undefined {
    const fit = this.#replicas.filter(
      ({ leftOut, replayed = '' }) => leftOut === undefined && (needed === null || replayed >= needed),
    );
    this.#turn += 1;
    return fit[this.#turn % fit.length];
  }

  async #watch(): Promise<void> {
    await Promise.all([
      this.#lookAtPrimary().catch(() => {}),
      ...this.#replicas.map((replica) => this.#judge(replica)),
    ]);
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#watch(), watchMs).unref();
  }

  async #judge(replica: Replica): Promise<void> {
    try {
      const { replayed, system } = await inTime(replica.look());
      replica.behindMs = this.#lag.behindMs(replayed, performance.now());
      if (this.#system && system !== this.#system) this.#leaveOut(replica, 'it belongs to another primary');
      else if (replica.behindMs > this.#options.maxLagMs)
        this.#leaveOut(replica, `it is more than ${this.#options.maxLagMs / 1000} s behind`);
      else this.#take(replica);
    } catch (error) {
      this.#leaveOut(replica, (error as Error).message);
    }
  }

  #take(replica: Replica): void {
    if (replica.leftOut !== undefined) this.#log?.info({ replica: replica.name }, 'replica is read from');
    replica.leftOut = undefined;
  }

  #leaveOut(replica: Replica, why: string): void {
    if (replica.leftOut === undefined && !this.#isClosed)
      this.#log?.warn({ replica: replica.name, why }, 'replica is left out');
    replica.leftOut = why;
  }
}

/** Waits for the outcome. Even an error may reveal what was seen, unless it says that the database is unavailable. */
async function settled<T>(outcome: Promise<T>): Promise<() => T> {
  try {
    const value = await outcome;
    return () => value;
  } catch (error) {
    if (isUnavailable(error)) throw error;
    return () => {
      throw error;
    };
  }
}

function inTime<T>(look: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('it says nothing')), patienceMs);
  return Promise.race([look, late.promise]).finally(() => clearTimeout(timer));
}
