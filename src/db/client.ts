import type { Socket } from 'node:net';
import pg from 'pg';
import { statementName } from './statement-names.ts';

export interface WatchedClientConfig extends pg.ClientConfig {
  /** Executed before anything else. */
  opening: string;
}

/** A connection that knows whether it may be reused; the pool stores in it what it needs for that decision. */
export class WatchedClient extends pg.Client {
  /** It is idle in the pool. */
  isIdle = false;
  /** Not to be used again, whatever its state. */
  isRetired = false;
  /** How long the server has been silent during the running statement. */
  silentMs = 0;
  /** How long its present user tolerates that. */
  patienceMs = Number.POSITIVE_INFINITY;
  /** By the clock of the pool, and not later than it was. */
  openedAt = 0;
  heardAt = 0;
  /** The running statement is a `begin`, which a healthy server executes at once. */
  isBeginning = false;
  /** The server has reported that the last statement is complete, and may have committed it. */
  isComplete = false;

  // The socket itself, before TLS, if any, wraps it.
  readonly #socket = this.connection.stream as Socket;
  readonly #opening: string;
  #bytesRead = 0;
  #waitedMs = 0;
  declare private readonly readyForQuery?: boolean;

  constructor(config: WatchedClientConfig) {
    super(config);
    this.#opening = config.opening;
    // Without a listener, an error outside of a statement would end the process.
    this.on('error', () => {});
    this.connection.on('commandComplete', () => {
      this.isComplete = true;
    });
  }

  // Before the pool has it, so that the pool's time limit for a new connection covers this as well.
  // biome-ignore lint/suspicious/noExplicitAny: the signature of pg's own overloads
  override connect(callback?: any): any {
    super.connect((failure?: Error) => {
      if (failure) return callback(failure);
      super.query(this.#opening, (error) => {
        if (error) this.#socket.destroy();
        callback(error ?? undefined);
      });
    });
  }

  /** Hands it to a user. The time it waited for the connection is taken off the limit of its first statement. */
  lend(patienceMs: number, waitedMs: number): void {
    this.isIdle = false;
    this.patienceMs = patienceMs;
    this.#waitedMs = waitedMs;
  }

  // biome-ignore lint/suspicious/noExplicitAny: the signature of pg's own overloads
  override query(text: any, values?: any, callback?: any): any {
    this.silentMs = this.#waitedMs;
    this.#waitedMs = 0;
    this.isBeginning = text === 'begin';
    this.isComplete = false;
    // Kysely names no statements; a named one is parsed and planned once per connection.
    const name = statementName(text);
    return name === undefined
      ? super.query(text, values, callback)
      : super.query({ name, text, values }, callback);
  }

  /** A statement is running. */
  get isBusy(): boolean {
    return !this.readyForQuery;
  }

  /**
   * No statement is running and no transaction is open: the last message of the server was ReadyForQuery, status
   * idle.
   */
  get isClean(): boolean {
    return !this.isBusy && !this.isRetired && this.getTransactionStatus() === 'I';
  }

  /** Whether anything has arrived since this was last asked. */
  hasHeard(): boolean {
    const { bytesRead } = this.connection.stream as Socket;
    const before = this.#bytesRead;
    this.#bytesRead = bytesRead;
    return bytesRead !== before;
  }

  /**
   * Ends the connection at once, and the running statement with this error. Over a network the connection is reset:
   * after a mere close, a statement that is still on its way would be executed once the network is back.
   */
  abandon(reason: Error): void {
    if (this.#socket.remoteFamily) this.#socket.resetAndDestroy();
    else this.#socket.destroy();
    this.connection.emit('error', reason);
  }
}
