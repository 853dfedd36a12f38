import { sql } from 'kysely';
import t from 'tap';
import type { Database } from '../../../src/db/database.ts';
import { relayBatch } from '../../../src/webhooks/delivery/relay.ts';
import { createSweep } from '../../../src/webhooks/delivery/retention.ts';
import { addBacklog, addEvents, withWebhooks } from '../../support/queue.ts';

t.test('what is past its time goes with its attempts; what is younger or unfinished stays', async (t) => {
  const database = await withWebhooks(t, 1);
  await addEvents(database, { count: 9, records: 3 });
  await relayBatch(database, { retentionDays: 30 });
  await finish(database, 'item:1', 'delivered');
  await finish(database, 'item:2', 'failed');
  await addEvents(database, { count: 1, records: 1 });
  await age(database, 31);
  await addEvents(database, { count: 3, records: 3 });
  await relayBatch(database, { retentionDays: 30 });
  await finish(database, 'item:1', 'delivered');

  // The unfinished deliveries of item:0 keep their events, however old.
  await sweep(database, 2);
  t.same(await rest(database), {
    event: ['item:0', 'item:0', 'item:0', 'item:0', 'item:0', 'item:1', 'item:2'],
    delivery: [
      'item:0 held',
      'item:0 held',
      'item:0 held',
      'item:0 held',
      'item:0 pending',
      'item:1 delivered',
      'item:2 pending',
    ],
    attempt: 1,
  });
});

t.test('what a deleted webhook leaves is swept, and deleting it does not wait for that', async (t) => {
  const database = await withWebhooks(t, 2);
  await addBacklog(database, 1, 50_000, 10_000);
  await addBacklog(database, 2, 10, 5);
  const started = performance.now();
  await database.deleteFrom('webhook').where('webhook_id', '=', 1).execute();
  t.ok(performance.now() - started < 1_000);
  await sweep(database, 10_000);
  const left = await database.selectFrom('delivery').select('webhook_id').execute();
  t.same(
    left,
    Array.from({ length: 10 }, () => ({ webhook_id: 2 })),
  );
});

t.test('an event that somebody holds is left for the next pass', async (t) => {
  const database = await withWebhooks(t, 0);
  await addEvents(database, { count: 2, records: 2 });
  await relayBatch(database, { retentionDays: 30 });
  await age(database, 31);
  await database.transaction().execute(async (transaction) => {
    await transaction
      .selectFrom('event')
      .select('sequence')
      .where('record', '=', 'item:0')
      .forKeyShare()
      .execute();
    await sweep(database, 10);
    t.same((await rest(database)).event, ['item:0']);
  });
  await sweep(database, 10);
  t.same((await rest(database)).event, []);
});

async function sweep(database: Database, batch: number): Promise<void> {
  const { next } = createSweep(database, { days: 30, batch });
  while (await next());
}

async function finish(database: Database, record: string, state: string): Promise<void> {
  await sql`
    with finished as (
      update delivery set state = ${state}, attempts = 1, next_attempt_at = null
      where record = ${record} and state in ('held', 'pending') returning delivery_id, account_id
    )
    insert into attempt (delivery_id, account_id, number, started_at, duration_ms)
    select delivery_id, account_id, 1, now(), 1 from finished`.execute(database);
}

/** Makes everything older, the time in the events' ids included. */
async function age(database: Database, days: number): Promise<void> {
  await sql`update event set event_id = uuidv7(uuid_extract_timestamp(event_id) - now() - make_interval(days => ${days}))`.execute(
    database,
  );
  await sql`update delivery set created_at = created_at - make_interval(days => ${days}),
    event_id = (select event_id from event where event.sequence = event_sequence)`.execute(database);
}

async function rest(database: Database) {
  const events = await database.selectFrom('event').select('record').execute();
  const deliveries = await database.selectFrom('delivery').select(['record', 'state']).execute();
  const attempts = await database.selectFrom('attempt').select('number').execute();
  return {
    event: events.map(({ record }) => record).sort(),
    delivery: deliveries.map(({ record, state }) => `${record} ${state}`).sort(),
    attempt: attempts.length,
  };
}
