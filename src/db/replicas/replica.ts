import { sql } from 'kysely';
import type pg from 'pg';
import { type Database, openDatabase } from '../database.ts';
import { statement } from '../statement.ts';
import { endOfRecords, type Lsn, readLsn } from './lsn.ts';
import { shareLooks } from './share-looks.ts';

/** How long a statement may be silent on a replica before the primary is asked instead. */
const silenceMs = 1_500;

/** A streaming replica and its known state. */
export class Replica {
  /** Host and port, for logs and metrics. */
  readonly name: string;
  readonly database: Database;
  /** Why it is not read from; undefined when it is. */
  leftOut: string | undefined = 'it was not asked yet';
  /** The position up to which it has replayed the log, at least. */
  replayed: Lsn | undefined;
  behindMs = 0;
  /** Reads and records where it is now. @throws when it is not a replica, or cannot be reached */
  readonly look: () => Promise<Standing>;

  constructor(url: string, pool: { max: number }) {
    const { hostname, port } = new URL(url);
    this.name = `${hostname}:${port || 5432}`;
    const connection: pg.PoolConfig = { connectionString: url, query_timeout: silenceMs };
    this.database = openDatabase(connection, pool);
    this.look = shareLooks(async () => {
      const [row] = await selectStanding(this.database, {});
      if (!row?.replayed) throw new Error('it is no replica');
      const replayed = readLsn(row.replayed);
      this.replayed = replayed;
      return { replayed, system: row.system };
    });
  }
}

export interface Standing {
  replayed: Lsn;
  /** The identifier of the cluster, the same for a primary and its replicas. */
  system: string;
}

/** Where the primary's log ends, and which cluster it is. */
export async function primaryStanding(database: Database): Promise<{ position: Lsn; system: string }> {
  const [row] = await selectPrimary(database, {});
  return { position: endOfRecords(readLsn(row?.position ?? '')), system: row?.system ?? '' };
}

const selectStanding = statement(
  'replicas.standing',
  () => sql<{ replayed: string | null; system: string }>`
    select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() end::text as replayed,
      system_identifier::text as system
    from pg_control_system()`,
);

const selectPrimary = statement(
  'replicas.primary',
  () => sql<{ position: string; system: string }>`
    select pg_current_wal_insert_lsn()::text as position, system_identifier::text as system
    from pg_control_system()`,
);
