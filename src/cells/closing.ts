/**
 * Closes an account for writing, whichever process writes, even one that was suspended or runs an older release.
 *
 * A trigger on each table that a write of the account must reach refuses it with an error that the service reports as
 * 503. It is created for this account, for as long as it moves, so others pay no more than a comparison of two numbers.
 * `create trigger` waits until the writers in progress have ended, and later ones see the trigger before they take
 * their snapshot: once it exists, everything that was acknowledged is committed, and nothing more will be acknowledged.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';

/** Everything that a client or an operator changes: each change of a record puts an event into the outbox. */
const writes: Fence[] = [
  { table: 'outbox', on: 'insert' },
  { table: 'client', on: 'insert or update' },
  { table: 'retired_client_secret', on: 'insert' },
  { table: 'webhook', on: 'insert' },
  // The health of an endpoint is recorded without a new version.
  { table: 'webhook', on: 'update of version' },
  { table: 'webhook', on: 'delete' },
  { table: 'webhook_secret', on: 'insert' },
  { table: 'replay', on: 'insert' },
  { table: 'idempotency_key', on: 'insert' },
];

/** What the relay writes as well; it finishes first. */
const deliveries: Fence[] = [
  { table: 'delivery', on: 'insert' },
  // Only a client's retry makes a delivery held again.
  { table: 'delivery', on: 'update of state', when: "new.state = 'held'" },
];

interface Fence {
  table: string;
  on: string;
  when?: string;
}

/** Refuses changes of the account from now on. Waits for those in progress. */
export async function refuseWrites(database: pg.Client, accountId: number): Promise<void> {
  for (const fence of writes) await refuse(database, accountId, fence);
}

/** Refuses new deliveries too; its events must have become deliveries before. */
export async function refuseDeliveries(database: pg.Client, accountId: number): Promise<void> {
  for (const fence of deliveries) await refuse(database, accountId, fence);
}

/** Undoes both. */
export async function allowWrites(database: pg.Client, accountId: number): Promise<void> {
  for (const fence of [...writes, ...deliveries]) {
    const drop = `drop trigger if exists ${nameOf(fence, accountId)} on ${fence.table}`;
    await withoutQueue(() => shortly(database, drop));
  }
}

/** Waits until all statements that write to a table and have already begun have ended. */
export async function writersHaveEnded(database: pg.Client, table: string): Promise<void> {
  await withoutQueue(() => shortly(database, `lock table ${table} in share row exclusive mode`));
}

function refuse(database: pg.Client, accountId: number, fence: Fence): Promise<void> {
  const { table, on, when } = fence;
  const row = on === 'delete' ? 'old' : 'new';
  const condition = `${row}.account_id = ${accountId}${when ? ` and ${when}` : ''}`;
  const create = `create or replace trigger ${nameOf(fence, accountId)} before ${on} on ${table}
    for each row when (${condition}) execute function refuse_while_moving()`;
  return withoutQueue(() => shortly(database, create));
}

function nameOf({ on }: Fence, accountId: number): string {
  return `account_${accountId}_moves_${on.split(' ', 1)}`;
}

async function shortly(database: pg.Client, statement: string): Promise<void> {
  try {
    await database.query(`begin; set local lock_timeout = '100ms'; ${statement}; commit`);
  } catch (error) {
    await database.query('rollback');
    throw error;
  }
}

const patienceMs = 60_000;

/** Others queue behind a lock request that waits, so it is soon given up, and made again. */
async function withoutQueue(change: () => Promise<void>): Promise<void> {
  const until = performance.now() + patienceMs;
  for (;;) {
    try {
      await change();
      return;
    } catch (error) {
      const isLocked = ['55P03', '40P01'].includes((error as { code?: string }).code ?? '');
      if (!isLocked || performance.now() > until) throw error;
      await pause(200);
    }
  }
}
