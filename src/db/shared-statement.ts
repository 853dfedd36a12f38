/*
 * Shared statements: calls of one kind that are under way at the same time share one statement, since a round trip, a
 * commit and the lock of a menu cost several of them what they cost one.
 *
 * How it works. Each key (an account and what its caller may reach, so that a statement stays within one account) has
 * two places: for one call that goes its direct way, and for one shared statement. A call that finds nobody waiting and
 * the first place free goes at once, as if there were no sharing; so one alone pays nothing. A call that finds the first
 * taken waits for the second, which is free at once or as soon as the shared statement under way has ended; that then
 * takes all who wait. There is no timer, and nobody waits for others to come.
 *
 * Why it is right.
 * - A call is part of a statement that begins after it came. So it sees whatever was committed before it came, and two
 *   calls of which one ended before the other began keep their order.
 * - A shared statement must not wait for what only some of its calls need: it passes over rows that others have locked,
 *   and those calls go on alone. A direct call may wait, but nobody waits for a direct call.
 * - A shared statement that fails has changed nothing if the server said so before it was complete; each of its calls
 *   then goes alone and fails for itself at most. If nobody knows whether it took effect, as when its connection broke,
 *   its calls fail with it: once more could be once too often. The same when it waited long for the database in vain.
 * - Calls that change the same record come in statements one after the other, unless the statement has a turn for each.
 * - In a transaction a call goes its direct way, as its writes are the transaction's.
 *
 * A process keeps nothing else of it, and processes need not know of each other.
 */
import type { Database } from './database.ts';
import { DatabaseUnavailable, isUnavailable, isUndone } from './unavailable.ts';

export interface Sharing<Call, Result> {
  /** Calls with the same key may share a statement. */
  key: (call: Call) => string;
  /** One call by itself, which may wait for locks. */
  alone: (database: Database, call: Call) => Promise<Result>;
  /**
   * Several at once: what each gets, in their order. For a call that the statement has passed over that is the promise of
   * its way alone.
   */
  together: (database: Database, calls: Calls<Call>) => Promise<(Result | Promise<Result>)[]>;
  /** What the call changes: a statement has one call for each, and the next ones wait for the next statement. */
  changed?: (call: Call) => unknown;
  /** Whether it only reads, so that it may always be done again. */
  isRead?: boolean;
  /** False where all calls with a key wait for one lock, so that there is no use in going beside others. */
  goesBeside?: boolean;
}

/** At least one. */
export type Calls<Call> = [Call, ...Call[]];

/** Makes calls of one kind share statements. What it gives is used as `alone` would be. */
export interface Shared<Call, Result> {
  (database: Database, call: Call): Promise<Result>;
  /** Whether a shared statement is under way that such a call would wait for. */
  isBusy(database: Database, call: Call): boolean;
}

// A statement that took effect for more calls would hold up the first of them, and the process, for longer.
const mostCalls = 100;
// A caller waits for four seconds at most, of which the failed statement has taken this much at most.
const patienceMs = 500;

/**
 * Returns a function that runs calls of one kind, those with the same key together while others are running.
 */
export function shared<Call, Result>(sharing: Sharing<Call, Result>): Shared<Call, Result> {
  const byDatabase = new WeakMap<Database, Map<string, Queue<Call, Result>>>();
  const queuesOf = (database: Database) => {
    const queues = byDatabase.get(database) ?? new Map<string, Queue<Call, Result>>();
    byDatabase.set(database, queues);
    return queues;
  };
  const add = (database: Database, call: Call) => {
    if (database.isTransaction) return sharing.alone(database, call);
    const queues = queuesOf(database);
    const key = sharing.key(call);
    let queue = queues.get(key);
    if (!queue) {
      queue = new Queue(database, sharing, () => queues.delete(key));
      queues.set(key, queue);
    }
    return queue.add(call);
  };
  const isBusy = (database: Database, call: Call) =>
    byDatabase.get(database)?.get(sharing.key(call))?.isSharing ?? false;
  return Object.assign(add, { isBusy });
}

interface Waiting<Call, Result> {
  call: Call;
  since: number;
  resolve: (result: Result | Promise<Result>) => void;
  reject: (error: unknown) => void;
}

/** The calls with one key. */
class Queue<Call, Result> {
  /** Whether a shared statement is under way. */
  isSharing = false;
  #hasAlone = false;
  #waiting: Waiting<Call, Result>[] = [];
  readonly #database: Database;
  readonly #sharing: Sharing<Call, Result>;
  readonly #end: () => void;

  /** @param end called when nothing is under way any more. */
  constructor(database: Database, sharing: Sharing<Call, Result>, end: () => void) {
    this.#database = database;
    this.#sharing = sharing;
    this.#end = end;
  }

  add(call: Call): Promise<Result> {
    const { goesBeside = true } = this.#sharing;
    if (goesBeside && !this.#hasAlone && this.#waiting.length === 0) return this.#goAlone(call);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, since: performance.now(), resolve, reject });
      if (!this.isSharing) void this.#goTogether();
    });
  }

  async #goAlone(call: Call): Promise<Result> {
    this.#hasAlone = true;
    try {
      return await this.#sharing.alone(this.#database, call);
    } finally {
      this.#hasAlone = false;
      if (!this.isSharing) this.#end();
    }
  }

  async #goTogether(): Promise<void> {
    this.isSharing = true;
    while (this.#waiting.length > 0) {
      const calls = this.#take();
      const begun = performance.now();
      try {
        const results = await this.#sharing.together(
          this.#database,
          calls.map(({ call }) => call) as Calls<Call>,
        );
        for (const [place, { resolve }] of calls.entries()) resolve(results[place] as Result);
      } catch (error) {
        this.#fail(calls, error, performance.now() - begun);
      }
    }
    this.isSharing = false;
    if (!this.#hasAlone) this.#end();
  }

  /** The next ones of those who wait. */
  #take(): Waiting<Call, Result>[] {
    const { changed } = this.#sharing;
    if (!changed) return this.#waiting.splice(0, mostCalls);
    const taken = new Map<unknown, Waiting<Call, Result>>();
    const left: Waiting<Call, Result>[] = [];
    for (const one of this.#waiting) {
      const what = changed(one.call);
      if (taken.size === mostCalls || taken.has(what)) left.push(one);
      else taken.set(what, one);
    }
    this.#waiting = left;
    return [...taken.values()];
  }

  #fail(calls: Waiting<Call, Result>[], error: unknown, afterMs: number): void {
    const { alone, isRead } = this.#sharing;
    const changedNothing = isUndone(error) || (isRead && !(error instanceof DatabaseUnavailable));
    if (changedNothing && (afterMs < patienceMs || !isUnavailable(error))) {
      for (const { call, resolve } of calls) resolve(alone(this.#database, call));
      return;
    }
    for (const { reject } of calls) reject(error);
    // Who has waited as long for the same database in vain would otherwise wait as long once more.
    const before = performance.now() - patienceMs;
    const tooLong = this.#waiting.filter(({ since }) => since < before);
    this.#waiting = this.#waiting.filter(({ since }) => since >= before);
    for (const { reject } of tooLong) reject(error);
  }
}
