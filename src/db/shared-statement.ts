/*
 * Shared statements: concurrent calls of one kind share one statement, because a round trip, a commit and the lock of a
 * menu cost several calls together no more than one.
 *
 * How it works. Each key (an account and what its caller may reach, so that a statement stays within one account) has
 * two slots: one for a direct call, one for a shared statement. A call that finds nobody waiting and the direct slot
 * free runs at once, as if there were no sharing; so a call on its own pays nothing. A call that finds the direct slot
 * taken waits for the shared slot, which is free at once or as soon as the running shared statement has ended; the next
 * one then takes all waiting calls. There is no timer, and no call waits for others to arrive. The direct slot stays
 * empty while a shared statement of several calls runs, or any shared statement of reads: another statement would cost
 * more than the wait.
 *
 * Why it is correct.
 * - A call is part of a statement that begins after the call arrived. So it sees whatever was committed before, and two
 *   calls of which one ended before the other began keep their order.
 * - A shared statement must not wait for what only some of its calls need: it skips rows that others have locked, and
 *   those calls continue on their own. A direct call may wait for a lock, but no other call waits for a direct call.
 * - A shared statement that fails has changed nothing if the server reported the error before it was complete; each of
 *   its calls then runs on its own and can only fail for itself. If it is unknown whether it took effect, as when its
 *   connection broke, its calls fail with it: running them again could apply them twice. They also fail with it if it
 *   waited long for an unavailable database.
 * - Calls that change the same record go into successive statements, unless the statement can apply several in turn.
 * - In a transaction a call runs directly, since its writes belong to the transaction.
 * - A direct call occupies a connection of its client's share (shareOf), and a shared statement one of the whole pool,
 *   since clients share it. It must not wait there for locks: with a key for each record, they would occupy all of it.
 *   Where it waits for one, its calls are of one client, and it occupies a connection of that client's share.
 *
 * The process keeps no other state for this, and processes need not know of each other.
 */
import { type Database, wholeOf } from './database.ts';
import { DatabaseUnavailable, isUnavailable, isUndone } from './unavailable.ts';

export interface Sharing<Call, Result> {
  /** Calls with the same key may share a statement. */
  key: (call: Call) => string;
  /** Whether all calls with a key are of one client, and occupy its share. */
  isOfOneClient?: boolean;
  /** Runs one call on its own; it may wait for locks. */
  alone: (database: Database, call: Call) => Promise<Result>;
  /** Runs several at once; returns the outcome of each, in their order. */
  together: (database: Database, calls: Calls<Call>) => Promise<Outcome<Result>[]>;
  /** Continues a call that the statement has skipped; `alone` unless given. */
  goOn?: (database: Database, call: Call) => Promise<Result>;
  /**
   * The records that the call changes: a statement takes one call for each, and further ones wait for the next
   * statement.
   */
  changed?: (call: Call) => readonly unknown[];
  /** Whether it only reads, so that it may always run again. */
  isRead?: boolean;
  /**
   * False if all calls with a key wait for the same lock, so that a direct call beside a shared one gains nothing.
   */
  goesBeside?: boolean;
}

/** At least one. */
export type Calls<Call> = [Call, ...Call[]];

/** Instead of a result: the statement has done nothing for the call. */
export const passedOver = Symbol('passed over');

/** What a statement has done for one of its calls. */
export type Outcome<Result> = Result | typeof passedOver;

/** The function that `shared` returns: used in place of `alone`. */
export interface Shared<Call, Result> {
  (database: Database, call: Call): Promise<Result>;
  /** Whether a shared statement is running that such a call would wait for. */
  isBusy(database: Database, call: Call): boolean;
}

// With more calls, or more records that they change, a statement would delay the first of them, and the process, for
// longer.
const most = 100;
// With 16 connections, a direct write beside a shared one of this many calls raised the CPU time of all by a quarter.
const crowded = 4;
// A caller waits four seconds at most, of which a failed statement may have taken this much.
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
    const whole = wholeOf(database);
    const queues = queuesOf(whole);
    const key = sharing.key(call);
    let queue = queues.get(key);
    if (!queue) {
      queue = new Queue(sharing.isOfOneClient ? database : whole, sharing, () => queues.delete(key));
      queues.set(key, queue);
    }
    return queue.add(database, call);
  };
  const isBusy = (database: Database, call: Call) =>
    byDatabase.get(wholeOf(database))?.get(sharing.key(call))?.isSharing ?? false;
  return Object.assign(add, { isBusy });
}

interface Waiting<Call, Result> {
  /** Its client's share. */
  database: Database;
  call: Call;
  since: number;
  resolve: (result: Result | Promise<Result>) => void;
  reject: (error: unknown) => void;
}

/** The calls with one key. */
class Queue<Call, Result> {
  /** The calls of the shared statement that is running. */
  #together = 0;
  #hasAlone = false;
  #waiting: Waiting<Call, Result>[] = [];
  readonly #database: Database;
  readonly #sharing: Sharing<Call, Result>;
  readonly #end: () => void;

  /**
   * @param database where the shared statements run.
   * @param end called when nothing is running any more.
   */
  constructor(database: Database, sharing: Sharing<Call, Result>, end: () => void) {
    this.#database = database;
    this.#sharing = sharing;
    this.#end = end;
  }

  /** Whether a shared statement is running. */
  get isSharing(): boolean {
    return this.#together > 0;
  }

  /** @param database the share of the caller. */
  add(database: Database, call: Call): Promise<Result> {
    const { goesBeside = true, isRead } = this.#sharing;
    const isCrowded = this.#together >= (isRead ? 1 : crowded);
    const isFree = !this.#hasAlone && this.#waiting.length === 0 && !isCrowded;
    if (goesBeside && isFree) return this.#goAlone(database, call);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ database, call, since: performance.now(), resolve, reject });
      if (!this.isSharing) void this.#goTogether();
    });
  }

  async #goAlone(database: Database, call: Call): Promise<Result> {
    this.#hasAlone = true;
    try {
      return await this.#sharing.alone(database, call);
    } finally {
      this.#hasAlone = false;
      if (!this.isSharing) this.#end();
    }
  }

  async #goTogether(): Promise<void> {
    const { alone, goOn = alone, together } = this.#sharing;
    while (this.#waiting.length > 0) {
      const calls = this.#take();
      this.#together = calls.length;
      const begun = performance.now();
      try {
        const outcomes = await together(this.#database, calls.map(({ call }) => call) as Calls<Call>);
        for (const [place, { database, call, resolve }] of calls.entries()) {
          const outcome = outcomes[place] as Outcome<Result>;
          resolve(outcome === passedOver ? goOn(database, call) : (outcome as Result));
        }
      } catch (error) {
        this.#fail(calls, error, performance.now() - begun);
      }
    }
    this.#together = 0;
    if (!this.#hasAlone) this.#end();
  }

  /** Takes the next waiting calls. */
  #take(): Waiting<Call, Result>[] {
    const { changed } = this.#sharing;
    if (!changed) return this.#waiting.splice(0, most);
    const taken: Waiting<Call, Result>[] = [];
    const left: Waiting<Call, Result>[] = [];
    const records = new Set<unknown>();
    for (const one of this.#waiting) {
      const own = changed(one.call);
      const isTooMuch = records.size > 0 && records.size + own.length > most;
      if (isTooMuch || own.some((record) => records.has(record))) {
        left.push(one);
      } else {
        taken.push(one);
        for (const record of own) records.add(record);
      }
    }
    this.#waiting = left;
    return taken;
  }

  #fail(calls: Waiting<Call, Result>[], error: unknown, afterMs: number): void {
    const { alone, isRead } = this.#sharing;
    const changedNothing = isUndone(error) || (isRead && !(error instanceof DatabaseUnavailable));
    if (changedNothing && (afterMs < patienceMs || !isUnavailable(error))) {
      for (const { database, call, resolve } of calls) resolve(alone(database, call));
      return;
    }
    for (const { reject } of calls) reject(error);
    // Otherwise, a call that has already waited this long for an unavailable database would wait as long again.
    const before = performance.now() - patienceMs;
    const tooLong = this.#waiting.filter(({ since }) => since < before);
    this.#waiting = this.#waiting.filter(({ since }) => since >= before);
    for (const { reject } of tooLong) reject(error);
  }
}
