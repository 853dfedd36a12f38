import { sql } from 'kysely';
import t from 'tap';
import type { Database } from '../../../src/db/database.ts';
import { type Claim, claimDue } from '../../../src/webhooks/delivery/claim.ts';
import type { AttemptResult } from '../../../src/webhooks/delivery/deliver.ts';
import { type Outcome, recordOutcomes } from '../../../src/webhooks/delivery/outcomes.ts';
import { relayBatch } from '../../../src/webhooks/delivery/relay.ts';
import { storedAttempts, storedDeliveries } from '../../support/deliveries.ts';
import { dividePast, partitionsOpened } from '../../support/partitions.ts';
import { addBacklog, addEvents, webhookIds, withWebhooks } from '../../support/queue.ts';

const claimAll = { limit: 1000, perEndpoint: 1000, busy: new Map<number, number>(), leaseMs: 30_000 };

t.test(
  'a delivery is claimed once until its lease runs out, and a late result then changes nothing',
  async (t) => {
    const database = await withWebhooks(t, 1);
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
    await recordOutcomes(database, [outcome(late, 'failed'), outcome(second as Claim, 'delivered')]);
    await recordOutcomes(database, [outcome(second as Claim, 'delivered')]);
    t.same(await states(database), { delivered: 1, pending: 1 });
    t.equal((await storedAttempts(database)).length, 1);
  },
);

t.test(
  'what ends stays in the queue while processes of the release before may look for it there',
  async (t) => {
    const database = await withWebhooks(t, 1);
    await addEvents(database, { count: 2, records: 1 });
    await relayBatch(database, { retentionDays: 30 });
    for (const [start, places] of [
      ['1 hour', ['delivered', 'pending']],
      ['0 seconds', ['delivered']],
    ] as const) {
      await sql`update delivery_log_start set starts_at = now() + ${start}::interval`.execute(database);
      const [claim] = await claimDue(database, claimAll);
      await recordOutcomes(database, [outcome(claim as Claim, 'delivered')]);
      const queue = await database.selectFrom('delivery').select('state').orderBy('delivery_id').execute();
      t.same(
        queue.map(({ state }) => state),
        places,
      );
    }
    t.same(await states(database), { delivered: 2 });
    t.equal((await storedAttempts(database)).length, 2);
  },
);

t.test('concurrent claims share the work and never overlap', async (t) => {
  const database = await withWebhooks(t, 3);
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

t.test('endpoints take turns when the limit applies, whatever their ids', async (t) => {
  const database = await withWebhooks(t, 10);
  await addEvents(database, { count: 100, records: 100 });
  await relayBatch(database, { retentionDays: 30 });
  const served = new Set<number>();
  for (let n = 0; n < 20; n += 1) {
    for (const { webhook_id } of await claimDue(database, { ...claimAll, limit: 5 })) served.add(webhook_id);
  }
  t.ok(served.size >= 4, `${served.size} endpoints among 20 claims that one could have filled`);
});

t.test('a claim takes no more from an endpoint than it has free slots', async (t) => {
  const database = await withWebhooks(t, 2);
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

for (const mode of ['force_custom_plan', 'force_generic_plan'])
  t.test(`a claim opens the days of what it claims, and no others, with ${mode}`, async (t) => {
    const database = await withWebhooks(t, 3, { max: 1 });
    await dividePast(
      database,
      Array.from({ length: 35 }, (_, n) => 34 - n),
    );
    await sql`set plan_cache_mode = ${sql.raw(mode)}`.execute(database);
    const claimOf = async (daysAgo: number[]) => {
      for (const ago of daysAgo) await addEvents(database, { count: 1, records: 1, daysAgo: ago });
      while ((await relayBatch(database, { retentionDays: 30 })) > 0);
      let claims: Claim[] = [];
      const opened = await partitionsOpened(database, 'event', async (transaction) => {
        claims = await claimDue(transaction, claimAll);
      });
      await recordOutcomes(
        database,
        claims.map((claim) => outcome(claim, 'delivered')),
      );
      return [claims.length, opened];
    };
    // The first plan for any values is made once in a connection.
    await claimOf([0]);
    t.same(await claimOf([0]), [3, 1]);
    t.same(await claimOf([20]), [3, 1]);
    t.same(await claimOf([]), [0, 0], 'nothing is claimed');
  });

t.test('a backlog of 50,000 at a dead endpoint costs claims, results and the relay nothing', async (t) => {
  for (const records of [50_000, 1]) {
    await t.test(records === 1 ? 'all of one record' : 'all of different records', async (t) => {
      const database = await withWebhooks(t, 2, { max: 1 });
      const [dead, alive] = await webhookIds(database);
      await addEvents(database, { count: 10, records: 5 });
      await relayBatch(database, { retentionDays: 30 });
      await addBacklog(database, dead as number, 50_000, records);
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
  const failedReason = state === 'failed' ? 'attempts_exhausted' : null;
  return { claim, startedAt: claim.claimed_at, result, state, failedReason, retryInMs: null };
}

async function expireLeases(database: Database): Promise<void> {
  await database.updateTable('delivery').set({ leased_until: sql`now() - interval '1 second'` }).execute();
}

async function states(database: Database): Promise<Record<string, number>> {
  const deliveries = await storedDeliveries(database);
  const byState = Map.groupBy(deliveries, ({ state }) => state);
  return Object.fromEntries([...byState].map(([state, own]) => [state, own.length]));
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
