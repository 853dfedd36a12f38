/**
 * Moves an account with everything that belongs to it from one cell to another, while both keep serving.
 *
 * Actors: this command; the processes of both cells, which know nothing of each other; the operator, who then changes
 * the proxy's map. Each cell records in account_move how far the move has got:
 *
 * 1. leaving. Nothing new is sent or restored for it. Attempts in progress end; clients still write.
 * 2. leaving, and closed for writing (closing.ts): writes get 503. The relay puts the last events into the feed. Then
 *    everything is copied from one snapshot into one transaction of the other cell, and compared. That transaction
 *    commits with the account as `arriving`.
 * 3. left. This cell no longer serves it, which all processes know after a second.
 * 4. The other cell serves it: its row in account_move is deleted there, and whatever was due is due again.
 *
 * Guarantees: this cell acknowledges no write that the copy lacks, and the two never accept writes at the same time.
 * Until the commit in 2 this cell has the account, and the move can be undone; from then on the other cell has it, and
 * the move can only be finished. After a crash of any actor, run the command again: it finds out which is the case. The
 * copy creates nothing anew: ids, versions, ETags and positions in the feed stay as they are.
 *
 * Deliveries: if the outcome of an attempt was not recorded, the other cell repeats it with the same id.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { trustMs } from '../accounts/find-caller.ts';
import { beginEpoch, currentEpoch } from '../events/epoch.ts';
import { relayBatch } from '../webhooks/delivery/relay.ts';
import { belongsTo, clientsOf } from './account-records.ts';
import { allowWrites, refuseDeliveries, refuseWrites, writersHaveEnded } from './closing.ts';
import { copyAccount } from './copy-account.ts';
import { requireFitting, requireUsable } from './requirements.ts';
import type { Cell } from './sessions.ts';

export interface MoveOptions {
  /** The cell that has the account, and the one that it moves to. */
  source: Cell;
  target: Cell;
  /** Of the account. */
  name: string;
  /** How long the source keeps events, in days. */
  retentionDays: number;
  /** Receives a line for each step. */
  say: (line: string) => void;
}

export interface Moved {
  account_id: number;
  /** The clients that the proxy must send to the other cell from now on. */
  clients: string[];
  /** How long writes were refused before the other cell served, in ms; absent if an earlier run closed the account. */
  closed_ms?: number;
}

/**
 * Moves the account, or finishes what an earlier run has begun.
 * @throws an Error of one line; if the move was refused, nothing has changed, otherwise it can be run again
 */
export async function moveAccount({ source, target, name, retentionDays, say }: MoveOptions): Promise<Moved> {
  await requireUsable(source, target);
  const { account_id, hasArrived } = await find(source, target, name);
  let closedAt: number | undefined;
  if (!hasArrived) {
    await requireFitting(source, target, account_id);
    await stopBackgroundWork(source, account_id, say);
    await startEpochAfter(source, target, account_id);
    target.seal.isNaming = await namesKeys(target);
    const close = async () => {
      say('refusing its writes');
      closedAt = performance.now();
      await refuseWrites(source.session, account_id);
      await relayLastEvents(source, account_id, retentionDays);
      await refuseDeliveries(source.session, account_id);
      say('copying the rest');
    };
    say('copying its history');
    const rows = await copyAccount(source, target, { accountId: account_id, close });
    say(`copied ${rows} rows`);
  }
  await source.session.query(`update account_move set state = 'left' where account_id = $1`, [account_id]);
  // Until then, processes of the source may still serve reads, from the same state as the target has.
  await pause(trustMs + 100);
  await target.session.query('delete from account_move where account_id = $1', [account_id]);
  const closed = closedAt !== undefined && { closed_ms: Math.round(performance.now() - closedAt) };
  return { account_id, clients: await clientsOf(target.session, account_id), ...closed };
}

/**
 * Undoes what an earlier run has begun: the source serves the account as before.
 * @throws an Error of one line when the account has arrived
 */
export async function takeBack({ source, target, name }: MoveOptions): Promise<{ account_id: number }> {
  await requireUsable(source, target);
  const { account_id, hasArrived } = await find(source, target, name);
  if (hasArrived)
    throw new Error(
      `account ${name} is in the other cell already: finish the move, then move it back from there`,
    );
  await allowWrites(source.session, account_id);
  await source.session.query('delete from account_move where account_id = $1', [account_id]);
  await source.session.query('update endpoint_due set look_at = now() where account_id = $1', [account_id]);
  return { account_id };
}

interface Found {
  account_id: number;
  state: 'leaving' | 'left' | 'arriving' | null;
}

/** Where the account is. @throws when both have it, or neither */
async function find(
  source: Cell,
  target: Cell,
  name: string,
): Promise<{ account_id: number; hasArrived: boolean }> {
  const [here, there] = [await findIn(source, name), await findIn(target, name)];
  if (!here) throw new Error(`there is no account ${name}${there ? '; the other cell has it' : ''}`);
  if (here.state === 'arriving')
    throw new Error(`account ${name} has not arrived here yet: finish the move that brings it`);
  const { account_id, state } = here;
  if (!there) {
    if (state === 'left') throw new Error(`account ${name} has left to another cell than this target`);
    return { account_id, hasArrived: false };
  }
  if (there.state === 'left')
    throw new Error(`account ${name} was in the target before: run remove-moved-account there first`);
  if (there.account_id !== account_id || state === null)
    throw new Error(`the target has an account ${name} of its own`);
  return { account_id, hasArrived: true };
}

async function findIn({ session }: Cell, name: string): Promise<Found | undefined> {
  const { rows } = await session.query<Found>(
    `select account_id::float8, state from account left join account_move using (account_id) where name = $1`,
    [name],
  );
  return rows[0];
}

/** Lets no more attempts and restorations begin; returns when none is in progress. */
async function stopBackgroundWork(
  { session }: Cell,
  accountId: number,
  say: (line: string) => void,
): Promise<void> {
  await session.query(
    `insert into account_move (account_id, state) values ($1, 'leaving') on conflict do nothing`,
    [accountId],
  );
  // A claim that began earlier does not see the row yet.
  await writersHaveEnded(session, 'delivery');
  const underWay = `from delivery where ${belongsTo('delivery', accountId)} and leased_until`;
  say('waiting for its deliveries that are under way');
  while ((await session.query(`select ${underWay} > now() limit 1`)).rowCount) await pause(100);
  // A worker that was suspended finds that its lease is gone.
  await session.query(
    `update delivery set leased_until = null
    where delivery_id in (select delivery_id ${underWay} is not null) and account_id = $1`,
    [accountId],
  );
}

/** Nothing more is added to the outbox. Any worker may empty it; this does too. */
async function relayLastEvents(
  { database, session }: Cell,
  accountId: number,
  retentionDays: number,
): Promise<void> {
  for (;;) {
    const { rowCount } = await session.query('select from outbox where account_id = $1 limit 1', [accountId]);
    if (!rowCount) return;
    if ((await relayBatch(database, { retentionDays })) === 0) await pause(20);
  }
}

/** Epochs of a feed increase: the target's must not be earlier than that of the account's last events. */
async function startEpochAfter(source: Cell, target: Cell, accountId: number): Promise<void> {
  const { rows } = await source.session.query<{ epoch: number }>(
    'select epoch::float8 from account_feed where account_id = $1',
    [accountId],
  );
  const last = rows[0]?.epoch ?? 0;
  await target.database.transaction().execute(async (transaction) => {
    await transaction.selectFrom('relay').select('singleton').forUpdate().execute();
    if ((await currentEpoch(transaction)) >= last) return;
    const epoch = await beginEpoch(transaction);
    if (epoch <= last) throw new Error('the clock of the target is behind that of the source');
  });
}

/** Whether all processes of the cell can decrypt values that name their key. */
async function namesKeys({ session }: Cell): Promise<boolean> {
  const { rows } = await session.query<{ names_keys: boolean }>(
    'select names_keys_from <= now() as names_keys from sealing',
  );
  return rows[0]?.names_keys ?? true;
}
