import { CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { DB } from '../../generated/database.ts';
import { isNamed, statementName } from './statement.ts';

export type Database = Kysely<DB>;

const oids = { int8: 20, int8Array: 1016, json: 114, jsonb: 3802, numeric: 1700 };

/**
 * Opens a pool. Connections are made on demand, so this succeeds while the server is away; the first
 * statement then fails with a connection error, which the API answers as 503.
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
    keepAlive: true,
    application_name: 'menu-management-service',
    types: { getTypeParser },
    // A Unix socket takes no TLS, whatever PGSSLMODE says.
    ...(connection.host?.startsWith('/') && { ssl: false }),
    ...connection,
    Client: NamedClient,
  });
  // A connection that dies is replaced by the pool; without listeners it would end the process, whether it dies
  // idle (the pool's event) or between two statements of a transaction (its own).
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return new Kysely<DB>({ dialect: new PostgresDialect({ pool }) });
}

/** Refuses servers that lack what the statements use: `returning old`, `uuidv7()` (PostgreSQL 18). */
export async function requireServerVersion(database: Database): Promise<void> {
  const { rows } = await database.executeQuery(
    CompiledQuery.raw("select current_setting('server_version_num')::int as version"),
  );
  const { version } = rows[0] as { version: number };
  if (version < 180_000) {
    throw new Error(
      `PostgreSQL 18 or newer is needed; DATABASE_URL leads to ${Math.floor(version / 10_000)}`,
    );
  }
}

// Kysely names no statements; a named one is parsed and planned once per connection.
class NamedClient extends pg.Client {
  // biome-ignore lint/suspicious/noExplicitAny: the signature of pg's own overloads
  override query(text: any, values?: any, callback?: any): any {
    if (typeof text === 'string' && isNamed(text)) {
      return super.query({ name: statementName(text), text, values }, callback);
    }
    return super.query(text, values, callback);
  }
}

// Ids stay below 2^53 by contract. JSON stays text: the database builds it, the reply sends it as it is.
function getTypeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (oid === oids.int8Array) return (value) => pg.types.getTypeParser(oids.int8Array)(value).map(Number);
  if (oid === oids.int8 || oid === oids.numeric) return Number;
  if (oid === oids.json || oid === oids.jsonb) return String;
  return pg.types.getTypeParser(oid, format as 'text') as (value: string) => unknown;
}
