import { sql } from 'kysely';
import t from 'tap';
import { type Database, openDatabase } from '../../../src/db/database.ts';
import type { AttemptResult } from '../../../src/webhooks/delivery/deliver.ts';
import { type Claim, claimDue, type Outcome, recordOutcomes } from '../../../src/webhooks/delivery/queue.ts';
import { relayBatch } from '../../../src/webhooks/delivery/relay.ts';
import { cloneDatabase } from '../../support/service.ts';

const claimAll = { limit: 1000, perEndpoint: 1000, busy: new Map<number, number>(), leaseMs: 30_000 };

t.test(
  'a delivery is claimed once until its lease runs out, and a late result then changes nothing',
  async (t) => {
    const database = await withWebhooks(1);
    await addEvents(database, { count: 2, records: 1 });
    await relayBatch(database, { retentionDays: 30 });

    const [late] = await claimDue(database, claimAll);
    if (!late) throw new Error('nothing claimed');
    t.same(await claimDue(database, claimAll), []);
    await expireLeases(database);
    const [second] = await claimDue(database, claimAll);
    t.match(second, {
      delivery_id: late.delivery_id,
      event_id: late.event_id,
      payload: late.payload,
      number: 1,
    });

    await recordOutcomes(database, [outcome(late, 'delivered')]);
    t.same(await states(database), { pending: 1, held: 1 });
    await recordOutcomes(database, [outcome(second as Claim, 'delivered')]);
    await recordOutcomes(database, [outcome(second as Claim, 'delivered')]);
    t.same(await states(database), { delivered: 1, pending: 1 });
    t.equal((await database.selectFrom('attempt').select('number').execute()).length, 1);
  },
);

t.test('claims made at once share the work and never overlap', async (t) => {
  const database = await withWebhooks(3);
  await addEvents(database, { count: 200, records: 200 });
  await relayBatch(database, { retentionDays: 30 });
  const claims = await Promise.all(
    Array.from({ length: 6 }, () => claimDue(database, { ...claimAll, limit: 150 })),
  );
  const ids = claims.flat().map((claim) => claim.delivery_id);
  t.equal(new Set(ids).size, ids.length);
  const rest = await claimDue(database, claimAll);
  t.equal(ids.length + rest.length, 600);
});

t.test('a low limit does not starve endpoints with high ids', async (t) => {
  const database = await withWebhooks(10);
  await addEvents(database, { count: 100, records: 100 });
  await relayBatch(database, { retentionDays: 30 });
  const served = new Set<number>();
  for (let n = 0; n < 60; n += 1) {
    for (const { webhook_id } of await claimDue(database, { ...claimAll, limit: 5 })) served.add(webhook_id);
  }
  t.equal(served.size, 10);
});

t.test('an endpoint gives no more than its free places', async (t) => {
  const database = await withWebhooks(2);
  await addEvents(database, { count: 20, records: 20 });
  await relayBatch(database, { retentionDays: 30 });
  const [first, second] = await webhookIds(database);
  const busy = new Map([
    [first as number, 5],
    [second as number, 9],
  ]);
  const claims = await claimDue(database, { ...claimAll, perEndpoint: 8, busy });
  t.same(
    claims.map((claim) => claim.webhook_id),
    [first, first, first],
  );
});

t.test('a backlog of 100,000 at a dead endpoint costs claims, results and the relay nothing', async (t) => {
  for (const records of [100_000, 1]) {
    await t.test(records === 1 ? 'all of one record' : 'all of different records', async (t) => {
      const database = await withWebhooks(2, { max: 1 });
      const [dead, alive] = await webhookIds(database);
      await addEvents(database, { count: 10, records: 5 });
      await relayBatch(database, { retentionDays: 30 });
      await addBacklog(database, dead as number, 100_000, records);
      const read = await rowsRead(database, async () => {
        await addEvents(database, { count: 10, records: 5 });
        await relayBatch(database, { retentionDays: 30 });
        const claims = await claimDue(database, { ...claimAll, perEndpoint: 5 });
        t.equal(claims.filter(({ webhook_id }) => webhook_id === alive).length, 5);
        await recordOutcomes(
          database,
          claims.map((claim) => outcome(claim, 'delivered')),
        );
      });
      t.equal(read.by_scan, 0, 'no table is scanned');
      t.ok(read.by_index < 500, `${read.by_index} rows read`);
    });
  }
});

function outcome(claim: Claim, state: Outcome['state']): Outcome {
  const result: AttemptResult = {
    ok: true,
    status: 204,
    error: null,
    durationMs: 1,
    responseExcerpt: null,
    gone: false,
  };
  return { claim, startedAt: claim.claimed_at, result, state, retryInMs: null };
}

/** A database of its own with so many webhooks of one account. */
async function withWebhooks(count: number, pool: { max?: number } = {}): Promise<Database> {
  const database = openDatabase(await cloneDatabase(t), pool);
  t.teardown(() => database.destroy());
  await sql`insert into webhook (account_id, url)
    select 1, 'https://example.com/' from generate_series(1, ${count}::int)`.execute(database);
  return database;
}

async function webhookIds(database: Database): Promise<number[]> {
  const rows = await database.selectFrom('webhook').select('webhook_id').orderBy('webhook_id').execute();
  return rows.map((row) => row.webhook_id);
}

async function addEvents(database: Database, { count, records }: { count: number; records: number }) {
  await sql`insert into event (event_id, account_id, type, record, location_id, menu_id, payload)
    select uuidv7(), 1, 'item.toggled', 'item:' || n % ${records}, 1, 1, '{}'
    from generate_series(1, ${count}::int) as n`.execute(database);
}

/** What an endpoint collects while it is down, as the relay would have queued it. */
async function addBacklog(database: Database, webhookId: number, count: number, records: number) {
  await sql`
    with added as (
      insert into event (event_id, account_id, type, record, location_id, menu_id, payload, relayed)
      select uuidv7(), 1, 'item.toggled', 'backlog:' || n % ${records}, 1, 1, '{}', true
      from generate_series(1, ${count}::int) as n
      returning event_id, sequence, type, record
    )
    insert into delivery (account_id, webhook_id, event_id, event_sequence, event_type, record, state, next_attempt_at)
    select 1, ${webhookId}, event_id, sequence, type, record, case when place = 1 then 'pending' else 'held' end,
      case when place = 1 then now() end
    from (select *, row_number() over (partition by record order by sequence) as place from added) as added
  `.execute(database);
}

async function expireLeases(database: Database): Promise<void> {
  await database.updateTable('delivery').set({ leased_until: sql`now()` }).execute();
}

async function states(database: Database): Promise<Record<string, number>> {
  const { rows } = await sql<{ state: string; count: number }>`
    select state, count(*) from delivery group by state`.execute(database);
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
}

/** Rows of the large tables that Postgres reads for `work`, on the database's only connection. */
async function rowsRead(database: Database, work: () => Promise<void>) {
  const before = await rowsReadSoFar(database);
  await work();
  const after = await rowsReadSoFar(database);
  return { by_scan: after.by_scan - before.by_scan, by_index: after.by_index - before.by_index };
}

async function rowsReadSoFar(database: Database) {
  await sql`select pg_stat_force_next_flush()`.execute(database);
  const { rows } = await sql<{ by_scan: number; by_index: number }>`
    select sum(seq_tup_read)::float8 as by_scan, sum(idx_tup_fetch)::float8 as by_index
    from pg_stat_user_tables where relname in ('delivery', 'event')`.execute(database);
  if (!rows[0]) throw new Error('no statistics');
  return rows[0];
}
