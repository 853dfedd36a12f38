import t from 'tap';
import type { Database } from '../../../src/db/database.ts';
import { relayBatch } from '../../../src/webhooks/delivery/relay.ts';
import { addEvents, withWebhooks } from '../../support/queue.ts';

const retentionDays = 30;

t.test('an event that commits after later ones is relayed all the same', async (t) => {
  const database = await withWebhooks(t, 1);
  const committed = Promise.withResolvers<void>();
  const inserted = Promise.withResolvers<void>();
  const late = database.transaction().execute(async (transaction) => {
    await addEvents(transaction, { count: 1, records: 1 });
    inserted.resolve();
    await committed.promise;
  });
  await inserted.promise;
  await addEvents(database, { count: 3, records: 3 });
  t.equal(await relayBatch(database, { retentionDays }), 3);
  committed.resolve();
  await late;
  t.equal(await relayBatch(database, { retentionDays }), 1);
  t.equal((await queued(database)).length, 4);
});

t.test('relays at once queue each event once, a record in its order', async (t) => {
  const database = await withWebhooks(t, 2);
  await addEvents(database, { count: 300, records: 3 });
  const relay = async () => {
    for (let idle = 0; idle < 5; )
      if ((await relayBatch(database, { retentionDays, maxEvents: 7 })) === 0) idle += 1;
  };
  await Promise.all([relay(), relay(), relay()]);
  const rows = await queued(database);
  t.equal(rows.length, 600);
  t.equal(new Set(rows.map((row) => `${row.webhook_id} ${row.event_id}`)).size, 600);
  for (const sameKey of Object.values(Object.groupBy(rows, (row) => `${row.webhook_id} ${row.record}`))) {
    const sequences = sameKey?.map((row) => row.event_sequence) ?? [];
    t.same(
      sequences,
      sequences.toSorted((a, b) => a - b),
    );
    t.same(new Set(sameKey?.slice(1).map((row) => row.state)), new Set(['held']));
    t.equal(sameKey?.[0]?.state, 'pending');
  }
});

t.test('a batch is cut where it would make too many deliveries, but one event always goes', async (t) => {
  const database = await withWebhooks(t, 4);
  await addEvents(database, { count: 5, records: 5 });
  const relay = (maxDeliveries: number) => relayBatch(database, { retentionDays, maxDeliveries });
  t.same(
    [await relay(8), await relay(3), await relay(7), await relay(100), await relay(100)],
    [2, 1, 1, 1, 0],
  );
  t.equal((await queued(database)).length, 20);
});

t.test('an endpoint that the service disabled collects no longer than things are kept', async (t) => {
  const database = await withWebhooks(t, 3);
  const agoDays = [undefined, 29, 31];
  for (const [n, days] of agoDays.entries()) {
    const disabled_at = days === undefined ? null : new Date(Date.now() - days * 86_400_000);
    await database
      .updateTable('webhook')
      .set({ enabled: false, disabled_at })
      .where('webhook_id', '=', n + 1)
      .execute();
  }
  await addEvents(database, { count: 1, records: 1 });
  await relayBatch(database, { retentionDays });
  t.same(
    (await queued(database)).map((row) => row.webhook_id),
    [1, 2],
  );
});

t.test('events that nobody wants are done with', async (t) => {
  const database = await withWebhooks(t, 0);
  await addEvents(database, { count: 5, records: 5 });
  t.equal(await relayBatch(database, { retentionDays }), 5);
  t.equal(await relayBatch(database, { retentionDays }), 0);
});

function queued(database: Database) {
  return database
    .selectFrom('delivery')
    .select(['webhook_id', 'event_id', 'event_sequence', 'record', 'state'])
    .orderBy('delivery_id')
    .execute();
}
