/**
 * Where the outbox begins. Relayed events leave it; but while a snapshot is open for long, as during a dump, the dead
 * rows and their index entries remain, and each search for the first event would read all of them. So a relay
 * remembers a sequence before which no event can be or become visible, and begins there.
 *
 * Sequences are drawn in another order than they are committed in. All those drawn by some time are decided once
 * every transaction that had begun to write by then is over: a write has its transaction id before it draws one.
 * These ids have a meaning on one server only, so they are remembered in the process, and forgotten when the server
 * may be another one.
 */
import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { type Param, statement } from '../../db/statement.ts';

export interface OutboxStart {
  /** No event that waits has a lower sequence. */
  from: number;
  /** Looks whether the relay should begin a transaction. */
  anyWaiting(database: Database): Promise<boolean>;
  /** Receives the transaction id and the server of the relay's transaction when it begins. */
  entered(transaction: { xid: string; server: string | null }): void;
  /** Begins at the beginning: the server may have been replaced by one that knows less. */
  forget(): void;
}

/** A full search now and then costs little and repairs unforeseen errors. */
const forgetAfterMs = 60_000;

/**
 * Remembers, for one relay, where in the outbox waiting events can begin, so that it need not read what is gone.
 */
export function rememberOutboxStart(): OutboxStart {
  let begunAt = performance.now();
  let server: string | null | undefined;
  /** The last sequence that was drawn by a moment, and a transaction id that was given out after it. */
  let drawn: { last: number; before?: bigint } | undefined;
  const start: OutboxStart = {
    from: 0,
    async anyWaiting(database) {
      if (performance.now() - begunAt > forgetAfterMs) start.forget();
      const [seen] = await look(database, { from: start.from });
      if (!seen) return false;
      const { first, last, oldest } = seen;
      if (last < start.from - 1) {
        start.forget();
        return true;
      }
      if (drawn?.before !== undefined && BigInt(oldest) >= drawn.before) {
        start.from = Math.min(first ?? Number.POSITIVE_INFINITY, drawn.last + 1);
        drawn = undefined;
      }
      drawn ??= { last };
      // Once more after the last event, so that the next search begins behind it.
      return first !== null || (start.from <= last && drawn.before === undefined);
    },
    entered(transaction) {
      if (server !== undefined && server !== transaction.server) start.forget();
      server = transaction.server;
      if (drawn) drawn.before ??= BigInt(transaction.xid);
    },
    forget() {
      begunAt = performance.now();
      start.from = 0;
      drawn = undefined;
    },
  };
  return start;
}

interface Seen {
  first: number | null;
  last: number;
  /** Transactions before it are over, and what they committed is visible. */
  oldest: string;
}

const look = statement(
  'webhooks.relay.any',
  (p: Param<{ from: number }>) => sql<Seen>`
    select (select sequence from outbox where sequence >= ${p('from', 'bigint')} order by sequence limit 1) as first,
      outbox_drawn() as last, pg_snapshot_xmin(pg_current_snapshot())::text as oldest`,
);
