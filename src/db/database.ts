import { CompiledQuery, Kysely, PostgresDialect, sql, type Transaction } from 'kysely';
import pg from 'pg';
import type { DB } from '../../generated/database.ts';
import type { DatabaseState } from './diagnosis.ts';
import { type Discards, type PoolLimits, WatchedPool } from './pool.ts';
import { DatabaseUnavailable } from './unavailable.ts';

export type Database = Kysely<DB>;

const oids = { int8: 20, int8Array: 1016, json: 114, jsonb: 3802, numeric: 1700 };

export interface PoolOptions extends Partial<Pick<PoolLimits, 'renewMs' | 'stuckMs'>> {
  /** Connections at most. */
  max?: number;
}

/**
 * Opens a pool. Connections are made on demand, so this succeeds while the server is away; the first
 * statement then fails with a connection error, which becomes a 503.
 * @param connection libpq-style parameters or a connection string. Its `query_timeout` bounds a statement together
 *   with the wait for its connection; 0 takes the bound away.
 */
export function openDatabase(connection: pg.PoolConfig, options: PoolOptions = {}): Database {
  const { query_timeout = 4_000, statement_timeout = 10_000, ...parameters } = connection;
  const pool = new WatchedPool(
    {
      max: options.max ?? 12,
      connectionTimeoutMillis: 3_000,
      idleTimeoutMillis: 60_000,
      // The server's own limits. Locks are given up before the client gives up its connection. What a client left
      // behind in a transaction, dead or suspended, must not keep its locks from the others.
      statement_timeout,
      lock_timeout: 3_500,
      idle_in_transaction_session_timeout: 5_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      application_name: 'menu-management-service',
      types: { getTypeParser },
      // A Unix socket takes no TLS, whatever PGSSLMODE says.
      ...(connection.host?.startsWith('/') && { ssl: false }),
      ...parameters,
    },
    {
      silenceMs: query_timeout || Number.POSITIVE_INFINITY,
      // The server's own limit comes first.
      longSilenceMs: statement_timeout ? statement_timeout + 2_000 : Number.POSITIVE_INFINITY,
      renewMs: options.renewMs ?? 5_000,
      stuckMs: options.stuckMs ?? 15_000,
    },
  );
  const database = new Kysely<DB>({ dialect: new PostgresDialect({ pool }) });
  pools.set(database, pool);
  return database;
}

/**
 * The same pool for what may take longer than a request should: its statements are ended by the server's own limit.
 * Of a transaction, which must be begun with this, the `begin` alone is held to the bound of requests.
 */
export function patient(database: Database): Database {
  const pool = pools.get(database);
  if (!pool) return database;
  const { options } = pool;
  const connect = () => pool.connect(pool.limits.longSilenceMs);
  const end = () => Promise.resolve();
  return new Kysely<DB>({ dialect: new PostgresDialect({ pool: { options, connect, end } }) });
}

const pools = new WeakMap<Database, WatchedPool>();

/** How the connections of an opened database are used now, and how many were given up so far. */
export function poolUse(database: Database): WatchedPool['use'] & { discards: Discards } {
  const { use, discards } = poolOf(database);
  return { ...use, discards };
}

/** What has been heard of the database lately. */
export function databaseState(database: Database): DatabaseState {
  return poolOf(database).diagnosis.state;
}

/** @throws unless the database is reached and would take a write. */
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

// What is rolled back leaves nothing behind, but needs pages of its own, which a full disk does not have.
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
    // Not every role may make temporary tables.
    if (error !== written && (error as { code?: string }).code !== '42501') throw error;
  }
}

/** Works in the transaction that is open already (as under an Idempotency-Key), or else in one of its own. */
export function inTransaction<T>(
  database: Database,
  work: (transaction: Transaction<DB>) => Promise<T>,
): Promise<T> {
  return database.isTransaction ? work(database as Transaction<DB>) : database.transaction().execute(work);
}

/**
 * Refuses servers that lack what the statements use: `returning old`, `uuidv7()` (PostgreSQL 18).
 * @throws an Error of one line, also when the server is out of reach.
 */
export async function requireServer(database: Database): Promise<void> {
  const major = Math.floor((await serverVersion(database)) / 10_000);
  if (major < 18)
    throw new Error(`PostgreSQL 18 or newer is required; DATABASE_URL points to version ${major}`);
}

async function serverVersion(database: Database): Promise<number> {
  const query = CompiledQuery.raw("select current_setting('server_version_num')::int as version");
  try {
    const { rows } = await database.executeQuery(query);
    return (rows[0] as { version: number }).version;
  } catch (cause) {
    throw new Error(`DATABASE_URL points to no usable database: ${(cause as Error).message}`, { cause });
  }
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
