import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { dropPartitions, keepPartitions } from '../../src/db/partitions.ts';
import { relayBatch } from '../../src/webhooks/delivery/relay.ts';
import { createSweep } from '../../src/webhooks/delivery/retention.ts';
import type { Api } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { demoItems } from '../support/items.ts';
import { dividePast, dropUntil, partitioned, partitionsOf, sweep, sweepOnce } from '../support/partitions.ts';
import { startReceiver, subscribe } from '../support/receiver.ts';
import { cloneDatabase, startTestService } from '../support/service.ts';

t.test(
  'who has read the last event that was removed has missed nothing, and gets the next one',
  async (t) => {
    const { api, database, add } = await setUp(t);
    await add(2);
    await age(database, 31);
    const { cursor, id } = await read(api);
    await sweep(database);
    t.match((await read(api)).events, [], 'nothing is left');
    const positions = [`cursor=${cursor}`, `after_event_id=${id}`];
    for (const position of positions)
      t.match(await api.get(`/events?${position}`), { status: 200, body: { data: [], next_cursor: null } });

    const [next] = await add(1);
    for (const position of positions) t.same((await read(api, position)).events, [next]);
  },
);

t.test('a reader that missed an event before it was removed is told so', async (t) => {
  const { api, database, add } = await setUp(t);
  const before = await read(api);
  await add(2);
  await age(database, 31);
  const refused = async (position: string, field: string, code: string) =>
    t.match(await api.get(`/events?${position}`), { status: 422, body: { errors: [{ field, code }] } });
  const known = (await api.get('/events?limit=1')).body;
  await sweep(database);
  await refused(`cursor=${known.resume_cursor}`, 'cursor', 'expired');
  await refused(`after_event_id=${known.data[0].id}`, 'after_event_id', 'not_found');
  await refused(`cursor=${before.cursor}`, 'cursor', 'expired');
  const [next] = await add(1);
  t.same((await read(api)).events, [next]);
});

t.test('partitions are created although that takes longer than a statement may', async (t) => {
  const connection = await cloneDatabase(t);
  const [hurried, unhurried] = [1, 10_000].map((statement_timeout) =>
    openDatabase({ ...connection, statement_timeout }, { max: 1 }),
  ) as [Database, Database];
  t.teardown(() => Promise.all([hurried.destroy(), unhurried.destroy()]));
  await dividePast(unhurried);
  await eventually('nobody uses the tables', async () => {
    await keepPartitions(hurried, unhurried);
    const kept = await Promise.all(partitioned.map((table) => partitionsOf(unhurried, table)));
    return kept.every((ones) => ones.some(({ until }) => Number(until) > Date.now() + 2 * 86_400_000));
  });
});

t.test('what waits for a paused endpoint expires with its event, and the endpoint says so', async (t) => {
  const { api, database, add } = await setUp(t);
  const { body } = await api.post('/webhooks', { url: 'http://127.0.0.1:1/', enabled: false });
  const path = `/webhooks/${body.data.webhook_id}`;
  t.equal(body.data.expired_deliveries, null);
  const etag = String((await api.get(path)).headers['etag']);
  await add(2);
  await age(database, 31);
  await sweep(database);
  const seen = await api.get(path, { headers: { 'if-none-match': etag } });
  t.match(seen, {
    status: 200,
    body: { data: { enabled: false, expired_deliveries: { count: 2, first_at: /Z$/, last_at: /Z$/ } } },
  });
  const { data } = (await api.get(`${path}/deliveries?state=failed`)).body;
  t.equal(data.length, 2);
  for (const delivery of data)
    t.match(delivery, { failed_reason: 'expired', attempt_count: 0, last_attempt: null });
  const [{ delivery_id }] = data;
  t.match((await api.get(`${path}/deliveries/${delivery_id}`)).body.data, { failed_reason: 'expired' });
  t.match(await api.post(`${path}/deliveries/${delivery_id}/retry`), { status: 409 });
});

t.test('the feed and replays go on from one day to the next', async (t) => {
  const { api, database, add } = await setUp(t, [2, 1, 0]);
  for (const days of [2, 1, 0]) {
    await add(2);
    await age(database, days);
  }
  const all = (await read(api)).events.map(({ id }) => id);
  t.equal(all.length, 6);
  const partitions = await partitionsOf(database, 'event');
  t.same(
    partitions.map(({ rows }) => rows).filter((rows) => rows > 0),
    [2, 2, 2],
  );
  for (const filter of ['', '&type=item.toggled']) {
    const paged: string[] = [];
    for (let next: string | null = ''; next !== null; ) {
      const { body }: { body: { data: Event[]; next_cursor: string | null } } = await api.get(
        `/events?limit=1${filter}${next && `&cursor=${next}`}`,
      );
      paged.push(...body.data.map(({ id }) => id));
      next = body.next_cursor;
    }
    t.same(paged, all);
  }
  const receiver = await startReceiver(t);
  const { webhook_id } = await subscribe(t, api, receiver);
  const since = new Date(Date.now() - 60 * 86_400_000).toISOString();
  t.match(await api.post(`/webhooks/${webhook_id}/replay`, { since }), { status: 202 });
  const arrived = await receiver.until(6);
  t.same(
    arrived.map(({ id }) => id),
    all,
  );
});

t.test('days without a partition accept writes, and become one when a worker is back', async (t) => {
  const connection = await cloneDatabase(t);
  const database = openDatabase(connection, { max: 1 });
  t.teardown(() => database.destroy());
  for (const table of partitioned) await dropUntil(database, table, sql`'infinity'`);
  const { api } = await startTestService(t, { connection });
  const [item] = await demoItems(api);
  const toggle = async () => {
    t.equal((await api.post(`${item.path}/toggle`)).status, 200);
    t.equal(await relayBatch(database, { retentionDays: 30 }), 1);
  };
  await toggle();
  t.match(await partitionsOf(database, 'event'), [{ name: 'event_rest', rows: 1 }]);
  const { next } = createSweep(database, { days: 30 });
  let steps = 0;
  const spare = async (table: string) => (await partitionsOf(database, table)).at(-1)?.rows;
  await eventually('the days have partitions', async () => {
    for (; await next(); steps += 1) await toggle();
    return (await spare('event')) === 0 && (await spare('feed')) === 0;
  });
  t.ok(steps >= 3, `writes went on between ${steps} steps`);
  const events = (await read(api)).events.length;
  t.equal(events, steps + 1);
  for (const table of ['event', 'feed']) {
    const partitions = await partitionsOf(database, table);
    t.match(partitions.at(-1), { name: `${table}_rest`, until: null, rows: 0 });
    t.match(partitions[0], { rows: events });
    t.ok(
      (partitions.at(-2)?.until?.getTime() ?? 0) > Date.now() + 3 * 86_400_000,
      'and there are days to come',
    );
  }
});

t.test('what accounts lose with a day is recorded while everybody else works', async (t) => {
  const { database, connection, add } = await setUp(t);
  await add(2);
  await age(database, 31);
  const sweeper = openDatabase(connection, { max: 1 });
  t.teardown(() => sweeper.destroy());
  const oldest = async () => (await partitionsOf(database, 'feed'))[0]?.name;
  const before = await oldest();
  let dropping: Promise<unknown> | undefined;
  await database.transaction().execute(async (transaction) => {
    // As the relay does with each batch.
    await sql`select from account_feed for update`.execute(transaction);
    dropping = dropPartitions(sweeper, 30);
    await eventually('the sweeper waits for the account', async () => {
      const { rows } = await sql`
        select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query ~ 'account_feed'`.execute(
        database,
      );
      return rows.length > 0;
    });
    const { rows } = await sql`
      select from pg_locks
      where relation in ('event'::regclass, 'feed'::regclass) and mode = 'AccessExclusiveLock'`.execute(
      database,
    );
    t.same(rows, [], 'and keeps nobody out of the tables meanwhile');
  });
  await dropping;
  await sweep(database);
  t.not(await oldest(), before);
});

t.test('a dump keeps old days, holds up no write, and they go once it has ended', async (t) => {
  const { api, database, connection, add } = await setUp(t);
  await add(2);
  await age(database, 31);
  const [dump, patientSweeper] = [
    openDatabase(connection, { max: 1 }),
    // Would wait for ever, if what it calls did not say otherwise.
    openDatabase({ ...connection, lock_timeout: 0 }, { max: 1 }),
  ];
  t.teardown(() => Promise.all([dump.destroy(), patientSweeper.destroy()]));
  const days = async () => (await partitionsOf(database, 'event')).map(({ name }) => name);
  const before = await days();
  await dump.transaction().execute(async (transaction) => {
    await sql`lock table event, feed, delivery_log in access share mode`.execute(transaction);
    let isSweeping = true;
    const swept = sweepOnce(patientSweeper).finally(() => {
      isSweeping = false;
    });
    while (isSweeping) await add(1);
    await swept;
    t.same(await days(), before);
  });
  t.equal(before.length - (await days()).length, 0);
  await sweep(database);
  t.equal(before.length - (await days()).length, 1);
  t.ok((await read(api)).events.length > 0);
});

t.test('a batch of the relay that holds up the drop of a day is not held up by it', async (t) => {
  const { database, connection, add } = await setUp(t);
  await add(2);
  await age(database, 31);
  const [relay, sweeper] = [openDatabase(connection, { max: 1 }), openDatabase(connection, { max: 1 })];
  t.teardown(() => Promise.all([relay.destroy(), sweeper.destroy()]));
  // Beyond what the test takes: that it gives up soon must not be what lets the batch go on.
  await sql`alter function drop_noted_events(timestamptz) set lock_timeout = '1min'`.execute(database);
  let dropping: Promise<{ rows: { days: number }[] }> | undefined;
  await relay.transaction().execute(async (transaction) => {
    await sql`select from event limit 1`.execute(transaction);
    dropping = sql<{ days: number }>`
      select drop_noted_events(now() - interval '30 days') as days`.execute(sweeper);
    await eventually('the drop waits', async () => {
      const { rows } = await sql`
        select from pg_locks where relation = 'event'::regclass and mode = 'AccessExclusiveLock' and not granted
      `.execute(transaction);
      return rows.length > 0;
    });
    await sql`lock table feed in row exclusive mode nowait`.execute(transaction);
  });
  t.match(await dropping, { rows: [{ days: 1 }] });
});

interface Event {
  id: string;
}

async function setUp(t: Test, daysAgo?: number[]) {
  const connection = await cloneDatabase(t);
  const fresh = openDatabase(connection, { max: 1 });
  await dividePast(fresh, daysAgo);
  await fresh.destroy();
  // Its own first pass leaves the days that these tests are about.
  const { api, database } = await startTestService(t, { connection, worker: { retentionDays: 90 } });
  const [item] = await demoItems(api);
  /** Toggles so many times. @returns the events of it */
  const add = async (count: number): Promise<Event[]> => {
    const { cursor } = await read(api);
    for (let n = 0; n < count; n += 1) await api.post(`${item.path}/toggle`);
    return eventually('they are listed', async () => {
      const { events } = await read(api, `cursor=${cursor}`);
      return events.length === count && events;
    });
  };
  return { api, database, connection, add };
}

async function read(api: Api, position = ''): Promise<{ events: Event[]; cursor: string; id?: string }> {
  const { body, text } = await api.get(`/events?${position}`);
  if (!body.data) throw new Error(text);
  return { events: body.data, cursor: body.resume_cursor, id: body.data.at(-1)?.id };
}

/** Makes everything older, the time in the events' ids included: positions from before mean nothing. */
async function age(database: Database, days: number): Promise<void> {
  const past = sql`make_interval(days => ${days})`;
  await sql`
    with aged as (
      select event_id, uuidv7(uuid_extract_timestamp(event_id) - now() - ${past}) as older from event
    ),
    accounts as (update account set created_at = created_at - ${past}),
    entries as (update feed set event_id = older from aged where aged.event_id = feed.event_id),
    ends as (update account_feed set event_id = older from aged where aged.event_id = account_feed.event_id),
    deliveries as (
      update delivery set created_at = created_at - ${past}, event_id = older from aged
      where aged.event_id = delivery.event_id
    )
    update event set event_id = older,
      payload = replace(payload::text, event_id_text(event.event_id), event_id_text(older))::json
    from aged where aged.event_id = event.event_id`.execute(database);
}
