/**
 * Brings the schema up to date while other processes serve requests.
 *
 * Actors: this process, on a connection of its own; others like it, including older ones; requests.
 *
 * Guarantees: only one process migrates at a time. It holds a lock of the session that does the work, so the lock lasts
 * exactly as long as the work. Each migration is committed on its own. If a migration waits for a table, requests queue
 * behind it for the lock timeout at most; then it pauses. No migration is ended because it takes long.
 *
 * After a crash: a migration in a transaction has left nothing; one without is run again, and an index that was left
 * invalid is rebuilt.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type pg from 'pg';
import type { DB } from '../../generated/database.ts';
import { openDatabase } from './database.ts';
import {
  compareSchema,
  createMigrationTable,
  type Migration,
  ownMigrations,
  recordMigration,
} from './schema.ts';

export interface MigrateOptions {
  /** Where the migrations are; by default those of this version. */
  directory?: URL;
  /** Receives one line for everything slow or unusual; writes to standard error by default. */
  say?: (line: string) => void;
}

/** Names of migrations. */
export interface Migrated {
  /** Were applied now. */
  applied: string[];
  /** Were applied by a newer version, and are left alone. */
  newer: string[];
}

/**
 * Brings the schema up to date; does nothing when it is, or when it is newer. Waits as long as necessary: for another
 * process that migrates, and for locks. The connection must keep its session: a pooler in transaction mode does not.
 * @throws an Error of one line when a migration fails, or the schema was not created by these migrations.
 */
export async function migrate(
  connection: pg.PoolConfig,
  { directory = ownMigrations, say = console.error }: MigrateOptions = {},
): Promise<Migrated> {
  const unlimited = { ...connection, query_timeout: 0, statement_timeout: 0 };
  const database = openDatabase(unlimited, { max: 1, stuckMs: Number.POSITIVE_INFINITY });
  try {
    const { pending, newer } = await compareSchema(database, directory);
    if (newer.length > 0) say(newerSchema(newer));
    if (pending.length === 0) return { applied: [], newer };
    return await database.connection().execute(async (session) => {
      await beMigrator(session, say);
      return applyPending(session, directory, say);
    });
  } finally {
    await database.destroy();
  }
}

/**
 * For a process that may not change the schema.
 * @throws an Error of one line when the schema lacks a migration.
 */
export async function requireMigrated(
  connection: pg.PoolConfig,
  { directory = ownMigrations, say = console.error }: MigrateOptions = {},
): Promise<void> {
  const database = openDatabase(connection, { max: 1 });
  try {
    const { pending, newer } = await compareSchema(database, directory);
    if (newer.length > 0) say(newerSchema(newer));
    if (pending.length === 0) return;
    const names = pending.map(({ name }) => name).join(', ');
    throw new Error(
      `the database schema lacks ${names}: run "npm run --silent admin -- migrate" as its owner, or unset MIGRATE`,
    );
  } finally {
    await database.destroy();
  }
}

type Session = Kysely<DB>;
type Say = (line: string) => void;

// The key of Kysely's migrator, which older versions use.
const lockKey = '3853314791062309107';
// Requests stop waiting for a lock after 3.5 s.
const lockTimeout = '1s';
const longestPauseMs = 15_000;
const pollMs = 500;
const sayEveryMs = 10_000;

/**
 * Makes this session the one that migrates, until it ends. Polls for the lock: a session that waits inside a statement
 * holds a snapshot, for which `create index concurrently` in the other session would wait.
 */
async function beMigrator(session: Session, say: Say): Promise<void> {
  // A zero among the first settings of a session would leave the limits that the role or the database has.
  await sql`set statement_timeout = 0`.execute(session);
  // Otherwise the server continues a long statement whose process is gone. Some platforms cannot detect that.
  const watch = sql`set client_connection_check_interval = '1s'`.execute(session);
  await watch.catch(() => {});
  for (let tries = 0; !(await takeLock(session)); tries += 1) {
    if ((tries * pollMs) % sayEveryMs === 0) say('another process migrates the database; waiting for it');
    await pause(pollMs);
  }
}

async function takeLock(session: Session): Promise<boolean> {
  const { rows } = await sql<{ taken: boolean }>`
    select pg_try_advisory_lock(${sql.lit(lockKey)}) as taken`.execute(session);
  return rows[0]?.taken === true;
}

async function applyPending(session: Session, directory: URL, say: Say): Promise<Migrated> {
  await createMigrationTable(session);
  // Another process may have applied pending migrations while this one waited for the lock.
  const { pending, newer } = await compareSchema(session, directory);
  if (newer.length > 0) say(newerSchema(newer));
  for (const migration of pending) {
    try {
      await applyPatiently(session, migration, say);
    } catch (cause) {
      throw new Error(`migration ${migration.name} failed: ${(cause as Error).message}`, { cause });
    }
  }
  return { applied: pending.map(({ name }) => name), newer };
}

/** Tries again, after longer and longer pauses, while others hold the locks that it needs. */
async function applyPatiently(session: Session, migration: Migration, say: Say): Promise<void> {
  const { name } = migration;
  const started = performance.now();
  const seconds = () => Math.round((performance.now() - started) / 1_000);
  const timer = setInterval(() => say(`migration ${name} has run for ${seconds()} s`), sayEveryMs);
  try {
    for (let pauseMs = pollMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      try {
        return await apply(session, migration);
      } catch (error) {
        if (!isLockConflict(error)) throw error;
        say(`migration ${name} waits for a lock that others hold; trying again in ${pauseMs / 1_000} s`);
        await pause(pauseMs);
      }
    }
  } finally {
    clearInterval(timer);
  }
}

async function apply(session: Session, { name, inTransaction, statements }: Migration): Promise<void> {
  if (inTransaction) {
    await session.transaction().execute(async (transaction) => {
      await giveUpLocksAfter(transaction, lockTimeout);
      for (const statement of statements) await sql.raw(statement).execute(transaction);
      await recordMigration(transaction, name);
    });
  } else {
    for (const statement of statements) await runAlone(session, statement);
    await recordMigration(session, name);
  }
}

/** Runs a statement outside a transaction; does nothing if it has already created its index. */
async function runAlone(session: Session, statement: string): Promise<void> {
  const index = /^create (?:unique )?index concurrently (?:if not exists )?([\w".]+)/im.exec(statement)?.[1];
  // Creating an index concurrently disturbs neither reads nor writes while it waits.
  await giveUpLocksAfter(session, index ? '0' : lockTimeout);
  const state = index && (await stateOf(session, index));
  if (state === 'valid') return;
  // Its creation was interrupted: `if not exists` would leave it as it is.
  if (state === 'invalid') await sql.raw(`drop index concurrently ${index}`).execute(session);
  await sql.raw(statement).execute(session);
}

async function giveUpLocksAfter(session: Session, time: string): Promise<void> {
  await sql.raw(`set lock_timeout = '${time}'`).execute(session);
}

async function stateOf(session: Session, index: string): Promise<'valid' | 'invalid' | undefined> {
  const { rows } = await sql<{ state: 'valid' | 'invalid' }>`
    select case when indisvalid then 'valid' else 'invalid' end as state
    from pg_index where indexrelid = to_regclass(${index})`.execute(session);
  return rows[0]?.state;
}

// lock_not_available, deadlock_detected
function isLockConflict(error: unknown): boolean {
  return ['55P03', '40P01'].includes((error as { code?: string }).code ?? '');
}

function newerSchema(names: string[]): string {
  return `the database schema is newer than this version, with ${names.join(', ')}; leaving it as it is`;
}
