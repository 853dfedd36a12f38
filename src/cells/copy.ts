/*
 * COPY between two servers, which `pg` does not support: what one server sends goes to the other unchanged.
 * pg-copy-streams 7.0.0 is not used: it never ended when the source failed among the rows, and ended the process when
 * the target did.
 * Source: https://www.postgresql.org/docs/18/protocol-flow.html#PROTOCOL-COPY
 */
import type { Socket } from 'node:net';
import type pg from 'pg';

/** What `pg` has of a connection beyond its types. */
interface CopyConnection {
  stream: Socket;
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(message: string): void;
}

/**
 * Copies the rows of a select into a table of another server.
 * @param rows a select
 * @param into a table with its columns, as `item (item_id, name)`
 * @returns the number of rows
 */
export async function copyRows(
  source: pg.Client,
  target: pg.Client,
  { rows, into }: { rows: string; into: string },
): Promise<number> {
  const inward = new CopyIn(`copy ${into} from stdin`);
  target.query(inward as unknown as pg.Submittable);
  const to = await inward.opened;
  const outward = new CopyOut(`copy (${rows}) to stdout`, to);
  source.query(outward as unknown as pg.Submittable);
  inward.ended.catch(() => outward.discard());
  try {
    await outward.ended;
    to.endCopyFrom();
  } catch (error) {
    to.sendCopyFail('the source failed');
    await inward.ended.catch(() => {});
    throw error;
  }
  return inward.ended;
}

/** A query of `pg` that ends with a count of rows. */
class Copy {
  readonly #ended = Promise.withResolvers<number>();
  readonly #text: string;
  #count = 0;
  #error: Error | undefined;

  constructor(text: string) {
    this.#text = text;
    // Whoever awaits it later still gets the error.
    this.#ended.promise.catch(() => {});
  }

  get ended(): Promise<number> {
    return this.#ended.promise;
  }

  submit(connection: CopyConnection): void {
    connection.query(this.#text);
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#count = Number(text.split(' ').at(-1));
  }

  handleReadyForQuery(): void {
    if (this.#error) this.#ended.reject(this.#error);
    else this.#ended.resolve(this.#count);
  }

  handleError(error: Error): void {
    this.#error = error;
    // Nothing else arrives on a broken connection.
    this.#ended.reject(error);
  }
}

class CopyIn extends Copy {
  readonly #opened = Promise.withResolvers<CopyConnection>();

  /** The connection, once the server takes rows. */
  get opened(): Promise<CopyConnection> {
    return Promise.race([this.#opened.promise, this.ended.then(() => this.#opened.promise)]);
  }

  handleCopyInResponse(connection: CopyConnection): void {
    this.#opened.resolve(connection);
  }
}

class CopyOut extends Copy {
  readonly #to: CopyConnection;
  #from: Socket | undefined;
  #isDiscarded = false;

  constructor(text: string, to: CopyConnection) {
    super(text);
    this.#to = to;
  }

  handleCopyData({ chunk }: { chunk: Buffer }, { stream }: CopyConnection): void {
    if (this.#isDiscarded) return;
    this.#from = stream;
    this.#to.sendCopyFromChunk(chunk);
    // Reads no faster than the other server accepts rows.
    if (!this.#to.stream.writableNeedDrain || stream.isPaused()) return;
    stream.pause();
    this.#to.stream.once('drain', () => stream.resume());
  }

  /** Reads and drops what the source still sends, since the other server has failed. */
  discard(): void {
    this.#isDiscarded = true;
    this.#from?.resume();
  }
}
