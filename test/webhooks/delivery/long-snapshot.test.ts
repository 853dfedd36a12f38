import { sql } from 'kysely';
import t from 'tap';
import { openDatabase } from '../../../src/db/database.ts';
import { claimDue } from '../../../src/webhooks/delivery/claim.ts';
import { watchDue } from '../../../src/webhooks/delivery/due-endpoints.ts';
import { rememberOutboxStart } from '../../../src/webhooks/delivery/outbox-start.ts';
import { recordOutcomes } from '../../../src/webhooks/delivery/outcomes.ts';
import { relayBatch } from '../../../src/webhooks/delivery/relay.ts';
import { pagesRead, withoutAutovacuum } from '../../support/buffers.ts';
import { eventually } from '../../support/eventually.ts';
import { delivered } from '../../support/outcomes.ts';
import { addEvents } from '../../support/queue.ts';
import { cloneDatabase } from '../../support/service.ts';
import { takeSnapshot } from '../../support/snapshot.ts';

/*
 * While a snapshot is open, nothing that ended since can be removed: a dump, a report. The work of the queue is counted
 * in pages; it must be the same after hundreds of deliveries and after thousands.
 */

const claimAll = { limit: 1000, perEndpoint: 1000, busy: new Map<number, number>(), leaseMs: 30_000 };

for (const records of [100_000, 3])
  t.test(`what has ended costs nothing while a snapshot is open, of ${records} records`, async (t) => {
    const connection = await cloneDatabase(t);
    const database = openDatabase(connection, { max: 1 });
    t.teardown(() => database.destroy());
    await withoutAutovacuum(database);
    await sql`insert into webhook (account_id, url)
      select 1, 'https://example.com/' from generate_series(1, 5)`.execute(database);
    const start = rememberOutboxStart();
    const watch = watchDue(database);
    const relay = async () => {
      while ((await relayBatch(database, { retentionDays: 30, start })) > 0);
    };
    const round = async (count: number, of = records) => {
      await addEvents(database, { count, records: of });
      await relay();
      for (;;) {
        const claims = await claimDue(database, claimAll);
        if (claims.length === 0) return;
        await recordOutcomes(database, claims.map(delivered));
      }
    };
    // Now and then, for a share of its time, it also reads the queues from their beginning.
    const usualLook = async () => {
      const looks: number[] = [];
      while (looks.length < 5) looks.push(await pagesRead(database, () => watch.next()));
      return Math.min(...looks);
    };
    const costs = async () => {
      await sql`analyze`.execute(database);
      await eventually('a second has passed since the last was recorded', async () => {
        const { rows } = await sql<{ passed: boolean }>`
          select max(ended_at) < now() - interval '1500 milliseconds' as passed from delivery_log`.execute(
          database,
        );
        return rows[0]?.passed;
      });
      // A round that finds something due is not followed by another within the second.
      await sql`update endpoint_due set look_at = now() - interval '2 seconds'`.execute(database);
      while (await watch.next());
      await relay();
      return {
        claim: await pagesRead(database, () => claimDue(database, claimAll)),
        poll: await pagesRead(database, relay),
        watch: await usualLook(),
        round: await pagesRead(database, () => round(3)),
      };
    };
    await round(30);
    await sql`vacuum analyze`.execute(database);
    const endSnapshot = await takeSnapshot(t, connection);
    // So many that from then on the indexes are as high as they will be.
    await round(150, 150);
    const few = await costs();
    for (let n = 0; n < 4; n += 1) await round(120);
    const many = await costs();
    const { rows } = await sql<{ left: number }>`
      select count(*) as left from delivery where state in ('held', 'pending')`.execute(database);
    t.match(rows, [{ left: 0 }], 'all have ended');
    t.ok(many.claim <= few.claim + 10, `a claim that finds nothing: ${few.claim} pages, ${many.claim} pages`);
    t.ok(many.poll <= few.poll + 10, `a relay that finds nothing: ${few.poll} pages, ${many.poll} pages`);
    const looks = `a look of the watcher: ${few.watch} pages, ${many.watch} pages`;
    t.ok(few.watch > 0 && many.watch <= few.watch + 10, looks);
    t.ok(many.round <= 1.5 * few.round, `three events: ${few.round} pages, ${many.round} pages`);
    await endSnapshot();
  });

t.test('events that commit late are relayed, in order, however far the outbox has moved on', async (t) => {
  const database = openDatabase(await cloneDatabase(t));
  t.teardown(() => database.destroy());
  await sql`insert into webhook (account_id, url) values (1, 'https://example.com/')`.execute(database);
  const start = rememberOutboxStart();
  const relay = () => relayBatch(database, { retentionDays: 30, start });
  const late = Promise.withResolvers<void>();
  const drawn = Promise.withResolvers<void>();
  const writing = database.transaction().execute(async (transaction) => {
    await addEvents(transaction, { count: 5, records: 1 });
    drawn.resolve();
    await late.promise;
  });
  await drawn.promise;
  for (let n = 0; n < 20; n += 1) {
    await addEvents(database, { count: 5, records: 5 });
    while ((await relay()) > 0);
  }
  t.ok(start.from <= 5, 'what is undecided is not passed');
  late.resolve();
  await writing;
  t.equal(await relay(), 5);
  while ((await relay()) > 0);
  await eventually('then it is passed', async () => {
    await relay();
    return start.from > 100;
  });
  const { rows } = await sql<{ count: number }>`select count(*) from delivery`.execute(database);
  t.match(rows, [{ count: 105 }]);
});

t.test('a server that knows less is read from its beginning', async (t) => {
  const database = openDatabase(await cloneDatabase(t));
  t.teardown(() => database.destroy());
  const start = rememberOutboxStart();
  const relay = () => relayBatch(database, { retentionDays: 30, start });
  await addEvents(database, { count: 100, records: 5 });
  await eventually('the outbox is passed', async () => {
    await relay();
    return start.from > 100;
  });
  await sql`select setval('outbox_sequence_seq', 10)`.execute(database);
  await addEvents(database, { count: 3, records: 3 });
  await eventually('they are relayed', async () => (await relay()) === 3);
});
