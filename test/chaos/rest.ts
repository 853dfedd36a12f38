import { sql } from 'kysely';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { eventually, settled } from '../support/eventually.ts';
import { type Evidence, historiesOf } from './checks/evidence.ts';
import type { Deployment } from './deployment/deployment.ts';
import { type Follower, readFeed } from './feed.ts';
import type { Journal } from './journal.ts';
import { type Fields, recordsIn, type ToldEvent } from './model.ts';
import type { Receivers } from './receivers.ts';
import type { Session } from './session.ts';

/** Waits until no transaction, absence or delivery is pending. The load must have stopped. */
export async function comeToRest(deployment: Deployment): Promise<void> {
  const database = openDatabase(deployment.connection(), { max: 2 });
  const hurrying = setInterval(() => hurry(database).catch(() => {}), 300);
  try {
    await transactionsEnd(database);
    await itemsReturn(database);
    await settled(database);
  } finally {
    clearInterval(hurrying);
    await database.destroy();
  }
}

/** Waits for transactions of the load, and of processes that have ended. */
async function transactionsEnd(database: Database): Promise<void> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(database);
  await eventually('transactions of the load end', async () => {
    const { rows: open } = await sql`
      select from pg_stat_activity
      where datname = current_database() and xact_start < ${rows[0]?.now}::timestamptz`.execute(database);
    return open.length === 0;
  });
}

/** Waits for items that are unavailable for a few seconds only. */
async function itemsReturn(database: Database): Promise<void> {
  await eventually('items return', async () => {
    const { rows } = await sql`select from item where unavailable_until is not null limit 1`.execute(
      database,
    );
    return rows.length === 0;
  });
}

// Brings forward what retries, leases and circuits would wait minutes for. An attempt in progress takes fewer seconds
// than that, as the receivers respond at once by now.
async function hurry(database: Database): Promise<void> {
  await sql`update webhook set probe_at = now() where probe_at > now()`.execute(database);
  await sql`
    update delivery set next_attempt_at = now(), leased_until = null
    where state = 'pending' and (next_attempt_at > now() or leased_until is not null)
      and (leased_until is null or leased_until < now() + interval '27 seconds')`.execute(database);
}

/** Reads everything that the checks examine. */
export async function collectEvidence(parts: {
  journal: Journal;
  session: Session;
  follower: Follower;
  receivers: Receivers;
}): Promise<Evidence> {
  const { journal, session, follower, receivers } = parts;
  const feed = await completeFeed(session, journal);
  await within(10_000, () => feed.every(({ id }) => follower.events.has(id)));
  return {
    journal,
    feed,
    followed: [...follower.events.values()],
    shown: await shownRecords(session),
    receivers,
    histories: historiesOf(feed),
  };
}

/** The feed once it has everything acknowledged, or after a while as it is; the checks report what it lacks. */
async function completeFeed(session: Session, journal: Journal): Promise<ToldEvent[]> {
  let feed: ToldEvent[] = [];
  await within(10_000, async () => {
    feed = await readFeed(session);
    const told = new Set(feed.map(({ request_id }) => request_id));
    return journal.calls.every(
      ({ operation, requests }) =>
        requests.every(
          ({ outcome, data }) => outcome !== 'acknowledged' || !operation.changed?.(data).length,
        ) || requests.some(({ id }) => told.has(id)),
    );
  });
  return feed;
}

async function within(ms: number, isDone: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + ms;
  while (!(await isDone()) && performance.now() < deadline) await new Promise((done) => setTimeout(done, 50));
}

async function shownRecords(session: Session): Promise<Map<string, Fields>> {
  const all = new Map<string, Fields>();
  const add = (data: unknown) => {
    for (const [record, fields] of recordsIn(data)) all.set(record, fields);
  };
  add((await session.bodyOf('GET', '/locations?limit=200')).data);
  const { data: menus } = await session.bodyOf('GET', '/menus?limit=200');
  for (const { menu_id } of menus) add((await session.bodyOf('GET', `/menus/${menu_id}`)).data);
  return all;
}
