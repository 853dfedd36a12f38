import { sql } from 'kysely';
import t from 'tap';
import { type Database, openDatabase } from '../../../src/db/database.ts';
import { recoverEndpoints } from '../../../src/webhooks/delivery/recovery.ts';
import { pagesRead, withoutAutovacuum } from '../../support/buffers.ts';
import { eventually } from '../../support/eventually.ts';
import { someItems } from '../../support/menus.ts';
import { addBacklog, withWebhooks } from '../../support/queue.ts';
import { startReceiver, subscribe } from '../../support/receiver.ts';
import { cloneDatabase, startTestService } from '../../support/service.ts';
import { takeSnapshot } from '../../support/snapshot.ts';

const inHours = sql`now() + interval '14 hours'`;

t.test(
  'when a circuit closes, what waits for hours goes out, once, at no cost to its schedule',
  async (t) => {
    const steps: number[] = [];
    const retryDelay = (step: number) => {
      steps.push(step);
      return 14 * 3_600_000;
    };
    const { api, database } = await startTestService(t, { worker: { retryDelay } });
    const [well, ...items] = await someItems(api, 13);
    const receiver = await startReceiver(t, () => 500);
    const { webhook_id } = await subscribe(t, api, receiver);
    for (const { path } of items) await api.post(`${path}/toggle`);
    await eventually('all have failed once', async () => (await waiting(database)).length === 12);

    const bad = receiver.deliveries[5]?.id;
    receiver.reply = ({ id }) => (id === bad ? 500 : 204);
    steps.length = 0;
    await sql`update webhook set probe_at = now() where webhook_id = ${webhook_id}`.execute(database);
    await api.post(`${well.path}/toggle`);
    await eventually('all but the bad one get through', async () => {
      const left = await waiting(database);
      return left.length === 1 && left[0]?.attempts === 2;
    });
    t.same(steps, [1], 'the early attempt takes nothing of the schedule');
    await eventually('the recovery is over', async () => (await recovering(database)) === 0);
    t.match(await waiting(database), [{ event_id: bad, attempts: 2 }]);
  },
);

t.test('enabling an endpoint waits for none of its deliveries; they become due in batches', async (t) => {
  const { api, database } = await startTestService(t);
  const { webhook_id } = await subscribe(t, api, { url: 'https://hooks.example.com/' }, { enabled: false });
  await addBacklog(database, webhook_id, 2_500, 2_500);
  await sql`update delivery set next_attempt_at = ${inHours}`.execute(database);
  await database.transaction().execute(async (transaction) => {
    await sql`select from delivery for update`.execute(transaction);
    t.equal((await api.put(`/webhooks/${webhook_id}`, { enabled: true })).status, 200);
  });
  const due: number[] = [];
  const recovery = recoverEndpoints(database);
  while (await recovery.next()) due.push(await dueNow(database));
  t.same(due, [1_000, 2_000, 2_500]);
  t.equal(await recovering(database), 0);
});

t.test('the oldest go first, and what failed since the recovery keeps its time', async (t) => {
  const database = await withWebhooks(t, 1);
  await addBacklog(database, 1, 3, 3);
  await sql`update delivery set attempts = 1, next_attempt_at = ${inHours} - make_interval(mins => delivery_id::int),
    created_at = now() - make_interval(mins => 10 - delivery_id::int)`.execute(database);
  await sql`insert into attempt (delivery_id, account_id, number, started_at, duration_ms)
    select delivery_id, account_id, 1, now() + make_interval(secs => case delivery_id when 2 then 1 else -1 end), 1
    from delivery`.execute(database);
  await sql`update webhook set recovered_at = now()`.execute(database);
  await recoverEndpoints(database).next();
  const rows = await database
    .selectFrom('delivery')
    .select('delivery_id')
    .where(sql<boolean>`next_attempt_at <= now()`)
    .orderBy('next_attempt_at')
    .execute();
  t.same(
    rows.map(({ delivery_id }) => delivery_id),
    [1, 3],
  );
});

t.test('each batch of a recovery costs the same while a snapshot is open', async (t) => {
  const connection = await cloneDatabase(t);
  const database = openDatabase(connection, { max: 1 });
  t.teardown(() => database.destroy());
  await withoutAutovacuum(database);
  await sql`insert into webhook (account_id, url) values (1, 'https://example.com/')`.execute(database);
  await addBacklog(database, 1, 12_000, 12_000);
  await sql`update delivery set next_attempt_at = ${inHours} + make_interval(secs => 3600 * random())`.execute(
    database,
  );
  await sql`vacuum analyze delivery`.execute(database);
  await sql`update webhook set recovered_at = now()`.execute(database);
  const endSnapshot = await takeSnapshot(t, connection);
  const recovery = recoverEndpoints(database);
  const costs: number[] = [];
  while ((await recovering(database)) > 0) costs.push(await pagesRead(database, () => recovery.next()));
  t.equal(await dueNow(database), 12_000);
  // The last one finds nothing, and says that the recovery is over.
  t.equal(costs.length, 13);
  const [few = 0, many = 0] = [costs[1], costs[11]];
  t.ok(few > 1_000 && many <= 1.2 * few, `${few} pages, ${many} pages`);
  t.ok((costs[12] ?? few) < few / 10, `${costs[12]} pages to find nothing`);
  await endSnapshot();
});

/** Attempted deliveries that wait for another attempt. */
async function waiting(database: Database) {
  const { rows } = await sql<{ delivery_id: number; event_id: string; attempts: number }>`
    select delivery_id, event_id_text(event_id) as event_id, attempts from delivery
    where state = 'pending' and attempts > 0 and next_attempt_at > now()`.execute(database);
  return rows;
}

async function dueNow(database: Database): Promise<number> {
  return count(database, sql`delivery where state = 'pending' and next_attempt_at <= now()`);
}

async function recovering(database: Database): Promise<number> {
  return count(database, sql`webhook where recovered_at is not null`);
}

async function count(database: Database, rows: ReturnType<typeof sql>): Promise<number> {
  const result = await sql<{ count: number }>`select count(*) from ${rows}`.execute(database);
  return result.rows[0]?.count ?? 0;
}
