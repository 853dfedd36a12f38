/** The database of a cell for the operator's commands, which take minutes: its sessions have no time limits. */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { type Database, openDatabase, requireServer } from '../db/database.ts';
import type { Seal } from '../db/seal.ts';
import { sessionSettings, setSession } from '../db/session.ts';

export interface Cell {
  /** For statements of the service. */
  database: Database;
  /** Holds the lock on moves. The connection must keep its session: a pooler in transaction mode does not. */
  session: pg.Client;
  seal: Seal;
}

/**
 * Opens the cells, and lets no other command move accounts of theirs meanwhile.
 * @param wanted the cells, opened in this order
 * @throws an Error of one line when one cannot be reached, or another command is using it
 */
export async function withCells<Result>(
  wanted: readonly { connection: pg.PoolConfig; seal: Seal }[],
  work: (...cells: Cell[]) => Promise<Result>,
): Promise<Result> {
  const cells: Cell[] = [];
  try {
    for (const { connection, seal } of wanted) cells.push(await openCell(connection, seal));
    return await work(...cells);
  } finally {
    for (const { database, session } of cells) {
      await session.end();
      await database.destroy();
    }
  }
}

async function openCell(connection: pg.PoolConfig, seal: Seal): Promise<Cell> {
  const database = openDatabase({ ...connection, query_timeout: 0, statement_timeout: 0 }, { max: 1 });
  // A Unix socket does not support TLS, whatever PGSSLMODE says.
  const session = new pg.Client({
    ...connection,
    ...(connection.host?.startsWith('/') && { ssl: false }),
  } as pg.ClientConfig);
  // The statement in progress fails with the same error.
  session.on('error', () => {});
  try {
    await requireServer(database);
    await session.connect();
    await session.query(
      setSession(
        sessionSettings({ statement_timeout: 0, lock_timeout: 0, idle_in_transaction_session_timeout: 0 }),
      ),
    );
    // One server reads what the other writes: both use one time zone and all digits.
    await session.query(`set timezone = 'UTC'; set extra_float_digits = 1; set bytea_output = 'hex'`);
    await holdAlone(session);
    return { database, session, seal };
  } catch (error) {
    await session.end();
    await database.destroy();
    throw error;
  }
}

const patienceMs = 10_000;

/** The server may take a moment to notice that a command was killed. */
async function holdAlone(session: pg.Client): Promise<void> {
  const until = performance.now() + patienceMs;
  for (;;) {
    const { rows } = await session.query<{ held: boolean }>(
      `select pg_try_advisory_lock(hashtextextended('move accounts', 0)) as held`,
    );
    if (rows[0]?.held) return;
    if (performance.now() > until)
      throw new Error('another command moves an account of this cell: wait for its end');
    await pause(200);
  }
}
