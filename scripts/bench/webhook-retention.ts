import { makeEvents, type Scene, webhookBench } from './rig/webhooks.ts';

export const webhookRetention = webhookBench(
  'webhookRetention',
  'dropping a day of 1,000,000 events (takes minutes)',
  measure,
);

const daysAgo = 40;

/** A day long past, in the feed and with its events; and then it goes. */
async function measure(scene: Scene): Promise<string[][]> {
  const { query, options, say } = scene;
  const events = options.quick ? 20_000 : 1_000_000;
  await makeEvents(scene, 0);
  for (const table of ['feed', 'event']) await addDay(scene, table);
  await query(
    `insert into event (event_id, account_id, type, record, location_id, menu_id, payload)
     select uuidv7(make_interval(days => -$1::int, secs => -60.0 * n / $2)), account_id, type, 'item:' || n % 20000,
       location_id, n % 200, payload
     from (select * from event limit 1) as one, generate_series(1, $2::int) as n`,
    [daysAgo, events],
  );
  await query(
    `insert into feed (account_id, epoch, position, event_id, type, record, location_id, menu_id)
     select account_id, 0, 10 + row_number() over (order by event_id), event_id, type, record, location_id, menu_id
     from event where event_id < event_id_at(now() - interval '1 day')`,
  );
  say(`webhookRetention: ${events.toLocaleString('en')} events are past their time`);
  const before = await query('select pg_current_wal_insert_lsn()::text as lsn');
  const start = performance.now();
  await query(`select drop_events(now() - make_interval(days => $1::int))`, [daysAgo - 2]);
  const ms = performance.now() - start;
  const [after] = await query(
    `select (pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1::pg_lsn) / 1000)::int as kb,
       (select count(*) from event where event_id < event_id_at(now() - interval '1 day'))::int as left`,
    [before[0]?.['lsn']],
  );
  if (after?.['left'] !== 0) throw new Error(`${after?.['left']} events are left`);
  say(`webhookRetention: ${ms.toFixed(0)} ms, ${after?.['kb']} kB of WAL`);
  return [
    [
      `dropping a day of ${events.toLocaleString('en')} events and their feed: time, WAL`,
      `${ms.toFixed(0)} ms, ${after?.['kb']} kB`,
      'under 1,000 ms',
    ],
  ];
}

/** A partition of that day in a table whose partitions begin today. */
async function addDay({ query }: Scene, table: string): Promise<void> {
  const day = (ago: number) => `date_trunc('day', now(), 'UTC') - make_interval(days => ${ago})`;
  await query(`create temporary table kept as select * from ${table}`);
  await query(`select drop_partitions('${table}', ${day(-1)})`);
  await query(`select add_partition('${table}', null, ${day(daysAgo - 2)})`);
  await query(`select add_partition('${table}', ${day(daysAgo - 2)}, ${day(-1)})`);
  await query(`insert into ${table} select * from kept`);
  await query('drop table kept');
}
