import { CompiledQuery, Kysely, PostgresDialect, sql, type Transaction } from 'kysely';
import pg from 'pg';
import type { DB } from '../../generated/database.ts';
import type { DatabaseState } from './diagnosis.ts';
import { type Discards, type LentClient, type PoolLimits, rowsFrom, WatchedPool } from './pool.ts';
import { PoolShare } from './pool-share.ts';
import { sessionLimits, sessionSettings, setSession } from './session.ts';
import { DatabaseUnavailable } from './unavailable.ts';

export type Database = Kysely<DB>;

const oids = { int8: 20, int8Array: 1016, json: 114, jsonb: 3802, numeric: 1700 };

export interface PoolOptions extends Partial<Pick<PoolLimits, 'renewMs' | 'stuckMs'>> {
  /** Connections at most. */
  max?: number;
}

/** Maximum number of connections of a process, unless another number is given. */
export const defaultPoolSize = 12;

/**
 * Opens a pool. Connections are opened on demand, so this succeeds even if the server is unavailable; the first
 * statement then fails with a connection error, which becomes a 503.
 * @param connection libpq-style parameters or a connection string. Its `query_timeout` limits a statement together with
 *   the wait for its connection; 0 means no limit. The server itself enforces the limits of the session.
 */
export function openDatabase(connection: pg.PoolConfig, options: PoolOptions = {}): Database {
  const {
    query_timeout = 4_000,
    statement_timeout = sessionLimits.statement_timeout,
    lock_timeout = sessionLimits.lock_timeout,
    idle_in_transaction_session_timeout = sessionLimits.idle_in_transaction_session_timeout,
    ...parameters
  } = connection;
  const limits = {
    statement_timeout: Number(statement_timeout),
    lock_timeout,
    idle_in_transaction_session_timeout,
  };
  const pool = new WatchedPool(
    {
      max: options.max ?? defaultPoolSize,
      opening: setSession(sessionSettings(limits)),
      connectionTimeoutMillis: 3_000,
      idleTimeoutMillis: 60_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      application_name: 'menu-management-service',
      types: { getTypeParser },
      // A Unix socket does not support TLS, whatever PGSSLMODE says.
      ...(connection.host?.startsWith('/') && { ssl: false }),
      ...parameters,
    },
    {
      silenceMs: query_timeout || Number.POSITIVE_INFINITY,
      // Later than the server's own limit.
      longSilenceMs: limits.statement_timeout ? limits.statement_timeout + 2_000 : Number.POSITIVE_INFINITY,
      renewMs: options.renewMs ?? 5_000,
      stuckMs: options.stuckMs ?? 15_000,
    },
  );
  const database = new Kysely<DB>({ dialect: new PostgresDialect({ pool }) });
  pools.set(database, pool);
  shares.set(database, new Map());
  // Kysely ends a pool only if it has used it.
  const destroy = database.destroy.bind(database);
  database.destroy = async () => {
    await destroy();
    await pool.end();
  };
  return database;
}

/**
 * The same pool for work that may take longer than a request should: only the server's own limit ends its statements. A
 * transaction must be begun with this as well; only its `begin` has the time limit of requests.
 * @param silenceMs for a statement that lifts the server's limit.
 */
export function patient(database: Database, silenceMs?: number): Database {
  const pool = poolFor(database);
  if (!pool) return database;
  return through(pool, () => pool.connect(silenceMs ?? pool.limits.longSilenceMs));
}

/** A database whose connections come from a pool that others use too. */
function through({ options }: WatchedPool | PoolShare, connect: () => Promise<LentClient>): Database {
  const end = () => Promise.resolve();
  return new Kysely<DB>({ dialect: new PostgresDialect({ pool: { options, connect, end } }) });
}

const pools = new WeakMap<Database, WatchedPool>();

/**
 * The same database for the calls of one client, which can occupy only a part of the connections: see PoolShare. What
 * calls of several clients share belongs to the whole database, which `wholeOf` returns.
 */
export function shareOf(whole: Database, clientId: string): Database {
  const [pool, known] = [pools.get(whole), shares.get(whole)];
  if (!pool || !known) return whole;
  const own = known.get(clientId);
  if (own) return own;
  if (known.size >= mostShares) forgetIdle(known);
  const share = createShare(whole, pool);
  known.set(clientId, share);
  return share;
}

/** The database of which this is a share; a database itself otherwise. */
export function wholeOf(database: Database): Database {
  return wholes.get(database)?.whole ?? database;
}

// One that is forgotten while calls use it would be given a second time.
function forgetIdle(known: Map<string, Database>): void {
  for (const [clientId, share] of known) if (wholes.get(share)?.part.isIdle) known.delete(clientId);
}

function createShare(whole: Database, pool: WatchedPool): Database {
  const part = new PoolShare(pool);
  const share = through(part, () => part.connect());
  wholes.set(share, { whole, part });
  return share;
}

/** Whether a statement of the client whose share this is would begin at once, as far as its other ones are concerned. */
export function hasRoom(database: Database): boolean {
  return wholes.get(database)?.part.hasRoom ?? true;
}

const mostShares = 10_000;
const shares = new WeakMap<Database, Map<string, Database>>();
const wholes = new WeakMap<Database, { whole: Database; part: PoolShare }>();

function poolFor(database: Database): WatchedPool | PoolShare | undefined {
  return pools.get(database) ?? wholes.get(database)?.part;
}

/**
 * The rows of a statement: in the open transaction, or else straight from the pool, where Kysely's executor is not
 * worth its cost.
 */
export async function rowsOf<Row>(database: Database, text: string, values: unknown[]): Promise<Row[]> {
  const pool = database.isTransaction ? undefined : poolFor(database);
  if (pool) return rowsFrom<Row>(pool, text, values);
  const { rows } = await database.executeQuery(CompiledQuery.raw(text, values));
  return rows as Row[];
}

/** How the connections of an opened database are used now, and how many were given up so far. */
export function poolUse(database: Database): WatchedPool['use'] & { discards: Discards } {
  const { use, discards } = poolOf(database);
  return { ...use, discards };
}

/** Whether the database has responded lately. */
export function databaseState(database: Database): DatabaseState {
  return poolOf(database).diagnosis.state;
}

/** @throws unless the database can be reached and would accept a write. */
export async function requireWritable(database: Database): Promise<void> {
  const pool = poolOf(database);
  if (pool.diskWasFull) {
    await tryToWrite(database);
    pool.diskWasFull = false;
  }
  const { rows } = await database.executeQuery<{ read_only: string }>(
    CompiledQuery.raw("select current_setting('transaction_read_only') as read_only"),
  );
  if (rows[0]?.read_only !== 'on') return;
  pool.renew();
  throw new DatabaseUnavailable(new Error('the database is read-only'));
}

// A rollback leaves nothing behind, but needs pages of its own, which a full disk does not have.
async function tryToWrite(database: Database): Promise<void> {
  const written = new Error('written');
  try {
    await database.transaction().execute(async (transaction) => {
      await sql`
        create temporary table written as
        select repeat(md5(n::text), 30) as text from generate_series(1, 200) as n`.execute(transaction);
      throw written;
    });
  } catch (error) {
    // Not every role may create temporary tables.
    if (error !== written && (error as { code?: string }).code !== '42501') throw error;
  }
}

/** Does the work in the transaction that is already open (as under an Idempotency-Key), or else in a new one. */
export function inTransaction<T>(
  database: Database,
  work: (transaction: Transaction<DB>) => Promise<T>,
): Promise<T> {
  return database.isTransaction ? work(database as Transaction<DB>) : database.transaction().execute(work);
}

/**
 * Refuses servers without the features that the statements use: `returning old`, `uuidv7()` (PostgreSQL 18). Refuses
 * tables that Citus has distributed, since it supports only some of the statements.
 * @throws an Error of one line, also when the server cannot be reached.
 */
export async function requireServer(database: Database): Promise<void> {
  const { version, has_citus } = await lookAtServer(database);
  const major = Math.floor(version / 10_000);
  if (major < 18)
    throw new Error(`PostgreSQL 18 or newer is required; DATABASE_URL points to version ${major}`);
  const table = has_citus && (await findDistributed(database));
  if (table)
    throw new Error(`DATABASE_URL points to tables that Citus distributes, such as ${table}: unsupported`);
}

interface Server {
  version: number;
  has_citus: boolean;
}

async function lookAtServer(database: Database): Promise<Server> {
  const query = CompiledQuery.raw(
    `select current_setting('server_version_num')::int as version,
       exists (select from pg_extension where extname = 'citus') as has_citus`,
  );
  try {
    const { rows } = await database.executeQuery(query);
    return rows[0] as Server;
  } catch (cause) {
    throw new Error(`DATABASE_URL points to no usable database: ${(cause as Error).message}`, { cause });
  }
}

/** A table of ours that is no longer an ordinary one. */
async function findDistributed(database: Database): Promise<string | undefined> {
  const { rows } = await sql<{ table: string }>`
    select relname as table from pg_dist_partition join pg_class on pg_class.oid = logicalrelid
    where relnamespace = current_schema()::regnamespace order by 1 limit 1`.execute(database);
  return rows[0]?.table;
}

function poolOf(database: Database): WatchedPool {
  const pool = pools.get(database);
  if (!pool) throw new Error('not opened by openDatabase');
  return pool;
}

// Ids stay below 2^53 by contract. JSON stays text: the database builds it, the reply sends it as it is.
function getTypeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (oid === oids.int8Array) return (value) => pg.types.getTypeParser(oids.int8Array)(value).map(Number);
  if (oid === oids.int8 || oid === oids.numeric) return Number;
  if (oid === oids.json || oid === oids.jsonb) return String;
  return pg.types.getTypeParser(oid, format as 'text') as (value: string) => unknown;
}
