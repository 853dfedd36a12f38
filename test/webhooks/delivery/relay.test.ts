import { sql } from 'kysely';
import t from 'tap';
import type { Database } from '../../../src/db/database.ts';
import { statementTexts } from '../../../src/db/statement.ts';
import { planInOrder } from '../../../src/webhooks/delivery/ordering.ts';
import { rememberOutboxStart } from '../../../src/webhooks/delivery/outbox-start.ts';
import { relayBatch } from '../../../src/webhooks/delivery/relay.ts';
import { pagesRead, withoutAutovacuum } from '../../support/buffers.ts';
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

t.test('concurrent relays queue each event once, and those of a record in order', async (t) => {
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

t.test('a batch is cut where it would create too many deliveries, but one event always goes', async (t) => {
  const database = await withWebhooks(t, 4);
  await addEvents(database, { count: 5, records: 5 });
  const relay = (maxDeliveries: number) => relayBatch(database, { retentionDays, maxDeliveries });
  t.same(
    [await relay(8), await relay(3), await relay(7), await relay(100), await relay(100)],
    [2, 1, 1, 1, 0],
  );
  t.equal((await queued(database)).length, 20);
});

t.test('an endpoint that the service disabled collects only for as long as events are kept', async (t) => {
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

t.test('events that nobody subscribes to are done at once', async (t) => {
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

t.test('accounts take turns: one with many events delays another by a batch', async (t) => {
  const database = await withWebhooks(t, 1);
  await addEvents(database, { count: 5_000, records: 5_000 });
  await addEvents(database, { count: 3, records: 3 });
  await giveToAccounts(database, 'case when place > 5000 then 3 else 1 end');
  t.equal(await relayBatch(database, { retentionDays, maxEvents: 100 }), 53);
  t.same(await waitingByAccount(database), [{ account_id: 1, count: 4_950 }]);
});

t.test(
  'an event is relayed in the next batch, at the same cost, however many another account has',
  async (t) => {
    const costs: number[] = [];
    for (const flood of [3_000, 30_000]) {
      const database = await withWebhooks(t, 20, { max: 1 });
      await withoutAutovacuum(database);
      await sql`set session_replication_role = replica`.execute(database);
      await sql`insert into webhook (account_id, url) values (3, '')`.execute(database);
      await addEvents(database, { count: flood, records: flood });
      await sql`vacuum analyze outbox, event`.execute(database);
      const start = rememberOutboxStart();
      const relay = () => relayBatch(database, { retentionDays, start });
      const batches: number[] = [];
      for (let events = 0; events < 5; events += 1) {
        await relay();
        await addEvents(database, { count: 1, records: 1, account: 3 });
        let batch = 0;
        for (; (await waitingByAccount(database)).length > 1; batch += 1)
          costs[costs.length] = await pagesRead(database, relay);
        batches.push(batch);
      }
      t.same(batches, [1, 1, 1, 1, 1]);
      t.match(await waitingByAccount(database), [{ account_id: 1 }], 'the other still waits');
      t.equal((await queued(database)).filter(({ webhook_id }) => webhook_id === 21).length, 5);
    }
    const [few = 0, many = 0] = [Math.max(...costs.slice(0, 5)), Math.max(...costs.slice(5))];
    t.ok(many <= 1.5 * few, `${few} pages, ${many} pages`);
  },
);

t.test(
  'a batch costs the same however many wait at its endpoints, before there are statistics',
  async (t) => {
    const database = await withWebhooks(t, 10, { max: 1 });
    await withoutAutovacuum(database);
    await addEvents(database, { count: 1_200, records: 1_200 });
    const start = rememberOutboxStart();
    const costs: number[] = [];
    for (let batch = 0; batch < 12; batch += 1)
      costs.push(
        await pagesRead(database, () => relayBatch(database, { retentionDays, start, maxEvents: 100 })),
      );
    t.equal((await queued(database)).length, 12_000);
    const [few = 0, many = 0] = [costs[1], costs[11]];
    t.ok(many <= 1.5 * few, `${few} pages, ${many} pages`);
  },
);

t.test('each event is looked up by its id, before there are statistics of its day', async (t) => {
  const database = await withWebhooks(t, 0);
  const queue = statementTexts().find(({ name }) => name === 'webhooks.relay.queue')?.text ?? '';
  const plan = await database.transaction().execute(async (transaction) => {
    await planInOrder(transaction);
    const { rows } = await sql<{ 'QUERY PLAN': string }>`
      explain (generic_plan, costs off) ${sql.raw(queue)}`.execute(transaction);
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  });
  const looks = [...plan.matchAll(/Scan using \w+ on feed_\w+ .*\n +Index Cond: (.*)/g)];
  t.ok(looks.length >= 4);
  for (const [look, condition] of looks) t.match(condition, 'relayed.event_id', look);
});

t.test('with more accounts than a batch has events, none is skipped', async (t) => {
  const database = await withWebhooks(t, 0);
  await addEvents(database, { count: 60, records: 60 });
  // Each account has two; the oldest two belong to the account with the highest id.
  await giveToAccounts(database, '100 - (place - 1) / 2');
  t.equal(await relayBatch(database, { retentionDays, maxEvents: 10 }), 10);
  const left = await waitingByAccount(database);
  t.notOk(
    left.some(({ account_id, count }) => account_id === 100 && count === 2),
    'the oldest is among them',
  );
  for (let relayed = 10; relayed < 60; )
    relayed += await relayBatch(database, { retentionDays, maxEvents: 10 });
  t.same(await waitingByAccount(database), []);
});

t.test('each filter finds its events, whatever the others are', async (t) => {
  const database = await withWebhooks(t, 0);
  const filters = {
    event_types: [[], ['item.toggled'], ['item.*'], ['menu.updated'], ['menu.*', 'item.created']],
    location_ids: [[], [1], [2, 1], [2]],
    menu_ids: [[], [1], [2, 1], [2]],
    granted_location_ids: [null, [], [1], [2, 1], [2], Array.from({ length: 200 }, (_, n) => n + 1)],
  };
  for (const event_types of filters.event_types)
    for (const location_ids of filters.location_ids)
      for (const menu_ids of filters.menu_ids)
        for (const granted_location_ids of filters.granted_location_ids)
          await database
            .insertInto('webhook')
            .values({ account_id: 1, url: '', event_types, location_ids, menu_ids, granted_location_ids })
            .execute();
  await addEvents(database, { count: 1, records: 1 });
  while ((await relayBatch(database, { retentionDays })) > 0);
  const found = (await queued(database)).map(({ webhook_id }) => webhook_id).sort((a, b) => a - b);
  const { rows } = await sql<{ webhook_id: number }>`select webhook_id from webhook
    where (event_types = '{}' or event_types && '{item.toggled,item.*}')
      and (location_ids = '{}' or 1 = any (location_ids)) and (menu_ids = '{}' or 1 = any (menu_ids))
      and (granted_location_ids is null or 1 = any (granted_location_ids))
    order by webhook_id`.execute(database);
  t.same(
    found,
    rows.map(({ webhook_id }) => webhook_id),
  );
  t.equal(found.length, 3 * 3 * 3 * 4);
});

t.test('a thousand endpoints that do not subscribe to an event cost nothing', async (t) => {
  const costs: number[] = [];
  for (const endpoints of [10, 1_000]) {
    const database = await withWebhooks(t, endpoints, { max: 1 });
    await sql`update webhook set event_types = '{menu.*}'`.execute(database);
    await sql`vacuum analyze webhook`.execute(database);
    await addEvents(database, { count: 1, records: 1 });
    await relayBatch(database, { retentionDays });
    await addEvents(database, { count: 100, records: 100 });
    const before = await webhooksRead(database);
    t.equal(await relayBatch(database, { retentionDays }), 100);
    costs.push((await webhooksRead(database)) - before);
  }
  t.same(costs, [0, 0], 'rows of webhook that are read');
});

t.test('an event with subscribers costs the same beside endpoints that subscribe to others', async (t) => {
  const costs: number[] = [];
  for (const others of [1_000, 5_000]) {
    const database = await withWebhooks(t, 10, { max: 1 });
    await sql`insert into webhook (account_id, url, event_types)
      select 1, '', '{menu.deleted}' from generate_series(1, ${others}::int)`.execute(database);
    await sql`vacuum analyze webhook`.execute(database);
    await addEvents(database, { count: 1, records: 1 });
    await relayBatch(database, { retentionDays });
    await addEvents(database, { count: 20, records: 20 });
    const before = await webhooksRead(database);
    t.equal(await relayBatch(database, { retentionDays }), 20);
    costs.push((await webhooksRead(database)) - before);
    t.equal((await queued(database)).length, 210);
  }
  t.equal(costs[1], costs[0], 'rows of webhook that are read');
});

/** Gives waiting events to the accounts that an expression names by their places in the outbox. */
async function giveToAccounts(database: Database, account: string): Promise<void> {
  await sql`
    with given as (
      update outbox set account_id = ${sql.raw(account)}
      from (select event_id, row_number() over (order by sequence) as place from outbox) as placed
      where placed.event_id = outbox.event_id
      returning outbox.event_id, outbox.account_id
    )
    update event set account_id = given.account_id from given where given.event_id = event.event_id`.execute(
    database,
  );
}

async function waitingByAccount(database: Database) {
  const { rows } = await sql<{ account_id: number; count: number }>`
    select account_id, count(*) from outbox group by account_id order by account_id`.execute(database);
  return rows;
}

async function webhooksRead(database: Database): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(database);
  const { rows } = await sql<{
    read: number;
  }>`select (seq_tup_read + coalesce(idx_tup_fetch, 0))::float8 as read
    from pg_stat_user_tables where relname = 'webhook'`.execute(database);
  return rows[0]?.read ?? 0;
}
