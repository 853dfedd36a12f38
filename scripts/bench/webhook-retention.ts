import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { processorTime } from './rig/processor-time.ts';
import { makeEvents, type Scene, webhookBench } from './rig/webhooks.ts';

export const webhookRetention = webhookBench(
  'webhookRetention',
  'dropping a day of 5,000,000 events (takes minutes and 10 GB)',
  measure,
);

const daysAgo = 40;

/** Drops a past day of the feed and its events while others read and write the tables. */
async function measure(scene: Scene): Promise<string[][]> {
  const { query, options, say } = scene;
  const events = options.quick ? 20_000 : 5_000_000;
  await makeEvents(scene, 0);
  await addDay(scene, 'event', (day) =>
    query(
      `insert into ${day} (event_id, account_id, type, record, location_id, menu_id, payload)
       select uuidv7(make_interval(days => -$1::int, secs => -60.0 * n / $2)), account_id, type,
         'item:' || n % 20000, location_id, n % 200, payload
       from (select * from event limit 1) as one, generate_series(1, $2::int) as n`,
      [daysAgo, events],
    ),
  );
  await addDay(scene, 'feed', (day) =>
    query(
      `insert into ${day} (account_id, epoch, position, event_id, type, record, location_id, menu_id)
       select account_id, 0, 10 + row_number() over (order by event_id), event_id, type, record, location_id, menu_id
       from event where event_id < event_id_at(now() - interval '1 day')`,
    ),
  );
  const count = events.toLocaleString('en');
  say(`webhookRetention: ${count} events are past their time`);
  const wal = async (since = '0/0') => {
    const [row] = await query(
      'select pg_current_wal_insert_lsn() - $1::pg_lsn as bytes, pg_current_wal_insert_lsn()::text as lsn',
      [since],
    );
    return row ?? {};
  };
  await forget(scene);
  const { lsn } = await wal();
  const [own] = await query('select pg_backend_pid() as pid');
  const before = processorTime(Number(own?.['pid'])).all;
  const others = await probe(scene);
  const { ms, dropped } = await whenFree(async () => {
    const start = performance.now();
    const [row] = await query('select drop_noted_events(now() - make_interval(days => $1::int)) as dropped', [
      daysAgo - 2,
    ]);
    return { ms: performance.now() - start, dropped: row?.['dropped'] };
  });
  const longest = await others.stop();
  const cpu = (processorTime(Number(own?.['pid'])).all - before) / 1_000;
  const kB = Math.round(Number((await wal(String(lsn)))['bytes']) / 1000);
  if (dropped !== 1) throw new Error(`${dropped} days went, not 1`);
  const [dead] = await query(
    `select coalesce(sum(n_dead_tup), 0)::int as rows from pg_stat_user_tables where relname ~ '^(event|feed)(_|$)'`,
  );
  const figures = [
    [`dropping a day of ${count} events and their feed`, `${ms.toFixed(0)} ms`, 'under 1,000 ms'],
    ['the longest that another statement on both tables took meanwhile', `${longest.toFixed(0)} ms`, ''],
    ['its processor time, WAL and dead rows', `${cpu.toFixed(0)} ms, ${kB} kB, ${dead?.['rows']}`, ''],
  ];
  for (const figure of figures) say(`webhookRetention: ${figure.slice(0, 2).join(': ')}`);
  return figures;
}

/**
 * Fills a partition for that day before attaching it, so that each index is built in one go. The table's other
 * partitions begin today. As in production, a day long past is not vacuumed.
 */
async function addDay(
  { query }: Scene,
  table: string,
  fill: (day: string) => Promise<unknown>,
): Promise<void> {
  const day = (ago: number) => `date_trunc('day', now(), 'UTC') - make_interval(days => ${ago})`;
  await query(`create temporary table kept as select * from ${table}`);
  await whenFree(() => query(`select drop_partitions('${table}', ${day(-1)})`));
  await whenFree(() => query(`select add_partition('${table}', ${day(daysAgo - 2)}, ${day(-1)})`));
  await query(`insert into ${table} select * from kept`);
  await query('drop table kept');
  const past = `${table}_long_past`;
  await query(`create table ${past} (like ${table} including defaults) with (autovacuum_enabled = off)`);
  await fill(past);
  const [bound] = await query(`select bound_at('${table}', ${day(daysAgo - 2)}) as until`);
  await query(
    `alter table ${table} attach partition ${past} for values from (minvalue) to ('${bound?.['until']}')`,
  );
}

/** Evicts the day from the system's cache: a day long past is on disk only. */
async function forget({ query }: Scene): Promise<void> {
  await query('checkpoint');
  const files = await query(
    `select current_setting('data_directory') || '/' || pg_relation_filepath(oid) as path
     from pg_class where relname ~ '_long_past' and relkind in ('r', 'i')`,
  );
  for (const { path } of files)
    for (const segment of globSync([`${path}`, `${path}.*`]))
      execFileSync('dd', [
        `of=${segment}`,
        'oflag=nocache',
        'conv=notrunc,fdatasync',
        'count=0',
        'status=none',
      ]);
}

/** Retries while somebody, such as autovacuum, holds a lock on the tables; the service would retry in its next sweep. */
async function whenFree<T>(change: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await change();
    } catch (error) {
      if ((error as { code?: string }).code !== lockNotAvailable) throw error;
      await sleep(500);
    }
  }
}

const lockNotAvailable = '55P03';

/** Reads both tables repeatedly until stopped, which returns the longest read in milliseconds. */
async function probe({ server }: Scene): Promise<{ stop(): Promise<number> }> {
  const client = new pg.Client({ ...server.connection, ssl: false });
  await client.connect();
  let longest = 0;
  let goesOn = true;
  const read = async () => {
    while (goesOn) {
      const start = performance.now();
      await client.query('select from event join feed using (event_id) order by event_id desc limit 1');
      longest = Math.max(longest, performance.now() - start);
    }
  };
  const reading = read();
  return {
    async stop() {
      goesOn = false;
      await reading.finally(() => client.end());
      return longest;
    },
  };
}
