import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import t from 'tap';
import type { Database } from '../../../src/db/database.ts';
import { claimDue } from '../../../src/webhooks/delivery/claim.ts';
import { relayBatch } from '../../../src/webhooks/delivery/relay.ts';
import { createSweep } from '../../../src/webhooks/delivery/retention.ts';
import { storedAttempts, storedDeliveries } from '../../support/deliveries.ts';
import { dividePast, partitioned, partitionsOf, sweep, sweepOnce } from '../../support/partitions.ts';
import { addBacklog, addEvents, withWebhooks } from '../../support/queue.ts';

const relay = (database: Database) => relayBatch(database, { retentionDays: 30 });

t.test('expired days are dropped, and no row is deleted', async (t) => {
  const database = await withWebhooks(t, 0, { max: 1 });
  await dividePast(database);
  for (const [daysAgo, count] of [
    [31, 500],
    [29, 20],
    [0, 3],
  ] as const) {
    await addEvents(database, { count, records: 10, daysAgo });
    await relay(database);
    await addToLog(database, { count, daysAgo });
  }
  await sweep(database);
  for (const table of partitioned) {
    const [lastMonth, today, ...coming] = await partitionsOf(database, table);
    t.match([lastMonth, today], [{ rows: 20 }, { rows: 3 }], table);
    t.ok(coming.length >= 4 && coming.every(({ rows }) => rows === 0), 'and partitions for the days to come');
    for (const { name, deleted } of await partitionsOf(database, table)) t.equal(deleted, 0, name);
  }
  const { rows } = await sql`select position, removed_position from account_feed`.execute(database);
  t.same(rows, [{ position: 523, removed_position: 500 }]);
});

t.test('an event that waits for the relay is kept until it is relayed', async (t) => {
  const database = await withWebhooks(t, 1);
  await dividePast(database);
  await addEvents(database, { count: 1, records: 1, daysAgo: 40 });
  await sweepOnce(database);
  t.equal(await relay(database), 1);
  t.same(await states(database), ['item:0 pending']);
  await sweep(database);
  t.same(await states(database), ['item:0 failed expired']);
  t.equal((await database.selectFrom('event').select('event_id').execute()).length, 0);
});

t.test(
  'what has waited too long expires, with its attempts, and what it held back becomes due',
  async (t) => {
    const database = await withWebhooks(t, 1);
    await dividePast(database);
    await addEvents(database, { count: 5, records: 2, daysAgo: 31 });
    await addEvents(database, { count: 2, records: 1 });
    await relay(database);
    await sql`update delivery set attempts = 1 where state = 'pending' and record = 'item:0'`.execute(
      database,
    );
    await sql`insert into attempt (delivery_id, account_id, number, started_at, duration_ms, status)
    select delivery_id, account_id, 1, now(), 7, 500 from delivery where attempts = 1`.execute(database);
    t.same(await states(database), [
      ...['item:1 pending', 'item:0 pending', 'item:1 held', 'item:0 held', 'item:1 held'],
      ...['item:0 held', 'item:0 held'],
    ]);
    await sweep(database, { batch: 2 });
    t.same(await states(database), [
      ...['item:1', 'item:0', 'item:1', 'item:0', 'item:1'].map((record) => `${record} failed expired`),
      ...['item:0 pending', 'item:0 held'],
    ]);
    t.match(await storedAttempts(database), [{ state: 'failed', number: 1, status: 500 }]);
    const { rows } = await sql`select expired_deliveries, first_expired_at <= last_expired_at as in_order
    from webhook`.execute(database);
    t.same(rows, [{ expired_deliveries: 5, in_order: true }]);
  },
);

t.test('an attempt in progress is not taken away from whoever makes it', async (t) => {
  const database = await withWebhooks(t, 1);
  await addEvents(database, { count: 1, records: 1, daysAgo: 31 });
  await relay(database);
  const limits = { limit: 10, perEndpoint: 10, busy: new Map<number, number>(), leaseMs: 30_000 };
  t.equal((await claimDue(database, limits)).length, 1);
  await sweep(database);
  t.same(await states(database), ['item:0 pending']);
  await sql`update delivery set leased_until = now()`.execute(database);
  await sweep(database);
  t.same(await states(database), ['item:0 failed expired']);
});

t.test(
  'what had ended in the queue moves to the log with its attempts, once nobody looks for it there',
  async (t) => {
    const database = await withWebhooks(t, 1);
    await addEvents(database, { count: 3, records: 3 });
    await relay(database);
    await sql`update delivery set state = 'delivered', attempts = 2, next_attempt_at = null where record <> 'item:0'`.execute(
      database,
    );
    await sql`insert into attempt (delivery_id, account_id, number, started_at, duration_ms)
    select delivery_id, account_id, number, '2026-01-02T03:04:05Z', 1 from delivery, generate_series(1, 2) as number
    where state = 'delivered'`.execute(database);
    const inQueue = async () => (await database.selectFrom('delivery').select('record').execute()).length;
    const before = [await storedDeliveries(database), await storedAttempts(database)];
    await sql`update delivery_log_start set starts_at = now() + interval '1 hour'`.execute(database);
    await sweep(database);
    t.equal(await inQueue(), 3);
    await sql`update delivery_log_start set starts_at = now()`.execute(database);
    await sweep(database, { batch: 1 });
    t.equal(await inQueue(), 1);
    t.same([await storedDeliveries(database), await storedAttempts(database)], before);
  },
);

t.test('the remains of a deleted webhook are swept, and deleting it does not wait for that', async (t) => {
  const database = await withWebhooks(t, 2);
  await addBacklog(database, 1, 50_000, 10_000);
  await addBacklog(database, 2, 10, 5);
  const started = performance.now();
  await database.deleteFrom('webhook').where('webhook_id', '=', 1).execute();
  t.ok(performance.now() - started < 1_000);
  await sweep(database, { batch: 10_000 });
  const left = await database.selectFrom('delivery').select('webhook_id').execute();
  t.same(
    left,
    Array.from({ length: 10 }, () => ({ webhook_id: 2 })),
  );
});

t.test('one process sweeps at a time; another takes over once its lease has run out', async (t) => {
  const database = await withWebhooks(t, 0);
  const sweepers = ['first', 'second'].map(() => createSweep(database, { days: 30, holder: randomUUID() }));
  const swept = () => Promise.all(sweepers.map(({ next }) => next()));
  const [first, second] = await swept();
  t.same([first, second].sort(), [false, true]);
  t.same(await swept(), [first, second], 'the same one goes on');
  await sql`update sweeper set leased_until = now() - interval '1 second'`.execute(database);
  const other = sweepers[first ? 1 : 0];
  t.equal(await other?.next(), true);
  t.equal(await sweepers[first ? 0 : 1]?.next(), false);
});

t.test('idle endpoints are looked at once a pass, not once a batch', async (t) => {
  const database = await withWebhooks(t, 2_000, { max: 1 });
  await sql`insert into delivery (account_id, webhook_id, event_id, event_sequence, event_type, record, state)
    select 1, webhook_id, uuidv7(), 1, 'item.toggled', 'item:1', 'held' from webhook`.execute(database);
  await sql`insert into delivery (account_id, webhook_id, event_id, event_sequence, event_type, record, state)
    select 1, 1000000 + n % 2, uuidv7(), n, 'item.toggled', 'item:1', 'held' from generate_series(1, 1000) as n`.execute(
    database,
  );
  await sql`vacuum analyze delivery, webhook`.execute(database);
  const before = await looks(database);
  await sweep(database, { batch: 100 });
  const all = await looks(database);
  t.ok(all - before < 2 * 2_000 + 1_000, `${all - before} looks at an endpoint in more than 30 batches`);
  const left = await database.selectFrom('delivery').select(sql<number>`count(*)`.as('count')).execute();
  t.same(left, [{ count: 2_000 }]);
});

/** How often webhooks were looked up by their ids or by scanning, on the only connection of the database. */
async function looks(database: Database): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(database);
  const { rows } = await sql<{ looks: number }>`
    select (seq_tup_read + idx_scan)::float8 as looks from pg_stat_user_tables where relname = 'webhook'`.execute(
    database,
  );
  return rows[0]?.looks ?? 0;
}

async function addToLog(
  database: Database,
  { count, daysAgo }: { count: number; daysAgo: number },
): Promise<void> {
  await sql`
    insert into delivery_log (delivery_id, account_id, webhook_id, event_id, event_sequence, event_type, record, state,
      attempt_count, attempts, created_at, ended_at)
    select n, 1, 1, uuidv7(), n, 'item.toggled', 'item:1', 'delivered', 1, '[]', ended_at, ended_at
    from generate_series(1, ${count}::int) as n, (select now() - make_interval(days => ${daysAgo}) as ended_at) as moment`.execute(
    database,
  );
}

async function states(database: Database): Promise<string[]> {
  const deliveries = await storedDeliveries(database);
  return deliveries.map(({ record, state, failed_reason }) =>
    [record, state, failed_reason].filter(Boolean).join(' '),
  );
}
