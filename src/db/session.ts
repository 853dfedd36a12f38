/** The server's own limits, in ms; 0 is none. */
export interface SessionLimits {
  statement_timeout: number;
  lock_timeout: number;
  idle_in_transaction_session_timeout: number;
}

/** Locks are given up before a client gives up its connection. */
export const sessionLimits: SessionLimits = {
  statement_timeout: 10_000,
  lock_timeout: 3_500,
  // The locks of a client that died or was suspended in a transaction must be released.
  idle_in_transaction_session_timeout: 5_000,
};

/**
 * The settings of each session, whatever defaults the server, the database or the role has. The limits are a
 * backstop; the statements rely on the rest. `search_path` is left to the administrator: it selects the schema of the
 * tables.
 *
 * They are set by the first statement of a connection, since PgBouncer refuses them as startup parameters. Source:
 * https://www.pgbouncer.org/config.html, ignore_startup_parameters.
 */
export function sessionSettings(limits: SessionLimits): Record<string, string> {
  const { statement_timeout, lock_timeout, idle_in_transaction_session_timeout } = limits;
  return {
    statement_timeout: `${statement_timeout}ms`,
    lock_timeout: `${lock_timeout}ms`,
    idle_in_transaction_session_timeout: `${idle_in_transaction_session_timeout}ms`,
    ...formats,
  };
}

const formats = {
  // A write that waited for another one continues with the row as that left it; at a higher level it would fail.
  default_transaction_isolation: 'read committed',
  // How values are written, both by the server and by us.
  DateStyle: 'ISO, MDY',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
};

/** The settings as one text for the server. */
export function setSession(settings: Record<string, string>): string {
  return Object.entries(settings)
    .map(([name, value]) => `set ${name} = '${value}'`)
    .join('; ');
}
