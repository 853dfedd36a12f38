import { CompiledQuery, Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import type { DB } from '../../generated/database.ts';
import { statementName } from './statement-names.ts';

export type Database = Kysely<DB>;

const oids = { int8: 20, int8Array: 1016, json: 114, jsonb: 3802, numeric: 1700 };

/**
 * Opens a pool. Connections are made on demand, so this succeeds while the server is away; the first
 * statement then fails with a connection error, which becomes a 503.
 * @param connection libpq-style parameters or a connection string.
 */
export function openDatabase(connection: pg.PoolConfig, options: { max?: number } = {}): Database {
  const pool = new pg.Pool({
    max: options.max ?? 12,
    connectionTimeoutMillis: 3_000,
    idleTimeoutMillis: 60_000,
    // Backstops: no statement here takes a second, and a request must never hang.
    statement_timeout: 10_000,
    query_timeout: 15_000,
    lock_timeout: 5_000,
    // A process that is suspended in a transaction must not keep its locks from the others.
    idle_in_transaction_session_timeout: 30_000,
    keepAlive: true,
    application_name: 'menu-management-service',
    types: { getTypeParser },
    // A Unix socket takes no TLS, whatever PGSSLMODE says.
    ...(connection.host?.startsWith('/') && { ssl: false }),
    ...connection,
    Client: NamedClient,
  });
  // A connection that dies is replaced by the pool, and what ran on it is rejected; but without a listener, on the
  // pool for an idle one and on itself for one in use, it would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const database = new Kysely<DB>({ dialect: new PostgresDialect({ pool }) });
  pools.set(database, pool);
  return database;
}

const pools = new WeakMap<Database, pg.Pool>();

/** How the connections of an opened database are used now. */
export function poolUse(database: Database): { busy: number; idle: number; waiting: number } {
  const { totalCount = 0, idleCount = 0, waitingCount = 0 } = pools.get(database) ?? {};
  return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
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
  } catch (error) {
    // A name with several addresses fails once for each.
    const [cause = error] = (error as AggregateError).errors ?? [];
    throw new Error(`DATABASE_URL points to no usable database: ${(cause as Error).message}`, { cause });
  }
}

// Kysely names no statements; a named one is parsed and planned once per connection.
class NamedClient extends pg.Client {
  // biome-ignore lint/suspicious/noExplicitAny: the signature of pg's own overloads
  override query(text: any, values?: any, callback?: any): any {
    const name = typeof text === 'string' ? statementName(text) : undefined;
    return name ? super.query({ name, text, values }, callback) : super.query(text, values, callback);
  }
}

// Ids stay below 2^53 by contract. JSON stays text: the database builds it, the reply sends it as it is.
function getTypeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (oid === oids.int8Array) return (value) => pg.types.getTypeParser(oids.int8Array)(value).map(Number);
  if (oid === oids.int8 || oid === oids.numeric) return Number;
  if (oid === oids.json || oid === oids.jsonb) return String;
  return pg.types.getTypeParser(oid, format as 'text') as (value: string) => unknown;
}
