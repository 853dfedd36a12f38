import type { Bench } from './bench.ts';
import { processorTime } from './rig/processor-time.ts';
import { serverTime } from './rig/server-time.ts';
import { makeEvents, type Scene, until, webhookBench } from './rig/webhooks.ts';

/** The cost of a switch, from its request until all its deliveries are in the log. */
export const switchCost: Bench = {
  ...webhookBench('switchCost', 'bytes and processor time of a switch, with 0, 1 and 10 endpoints', measure),
  table: {
    heading: [
      'endpoints',
      'service CPU µs',
      'PostgreSQL CPU µs',
      'WAL bytes',
      'WAL bytes after a checkpoint',
      'bytes kept',
    ],
    notes: [
      'For each switch, until all of its deliveries are in the log: 100 switches a second of 500 items in as many ' +
        'menus, one process of the service with all roles, signed deliveries over HTTP to a process of its own.',
      'Processor time is that of all threads of the service and of all processes of PostgreSQL, less what they take ' +
        'when nothing happens: that is the row "idle", for each second.',
      'After a checkpoint PostgreSQL logs each page as a whole when it changes for the first time. Each switch is then ' +
        'the first in its menu; in the last row, which begins with the event, the first of its account as well.',
      'Kept is what event, feed and delivery_log have grown by, with their indexes; the queue is used again.',
    ],
  },
};

const perSecond = 100;
const menus = 500;

async function measure(scene: Scene): Promise<string[][]> {
  const { subscribe, write, query, options, say } = scene;
  const seconds = options.quick ? 5 : 20;
  // Menu by menu, as imports leave them.
  await query('cluster item using item_by_menu');
  await write(perSecond, 5);
  const idle = await cost(scene, () => query('select pg_sleep($1)', [seconds]));
  const rows = [row('idle', seconds, [idle.service, idle.server])];
  let endpoints = 0;
  for (const added of [0, 1, 9]) {
    const paths = Array.from({ length: added }, (_, n) => `/ok/${endpoints + n}`);
    await subscribe(paths, { from: endpoints });
    endpoints += added;
    // Every connection of the service prepares its statements, and PostgreSQL reads its pages.
    await switchItems(scene, 5, endpoints);
    const steady = await cost(scene, () => switchItems(scene, seconds, endpoints));
    await query('checkpoint');
    const first = await cost(scene, () => switchItems(scene, menus / perSecond, endpoints));
    const count = seconds * perSecond;
    rows.push(
      row(String(endpoints), count, [
        steady.service - idle.service,
        steady.server - idle.server,
        steady.wal,
        (first.wal / menus) * count,
        steady.kept,
      ]),
    );
    say(`switchCost: ${rows.at(-1)?.join('  ')}`);
  }
  const events = await eventsOfManyAccounts(scene);
  rows.push(['0, many accounts', '–', '–', '–', Math.round(events / accounts).toLocaleString('en'), '–']);
  return rows;
}

const accounts = 500;

/** Bytes of WAL for one event per account after a checkpoint, when each account has its own pages in the feed. */
async function eventsOfManyAccounts(scene: Scene): Promise<number> {
  const { query } = scene;
  await makeEvents(scene, 0);
  await query(
    `with made as (
       insert into event (event_id, account_id, type, record, location_id, menu_id, payload)
       select uuidv7(), 1000 + n % $1, type, record, n % $1, n % $1, payload
       from (select * from event limit 1) as one, generate_series(1, 400 * $1::int) as n
       returning event_id, account_id, type, record, location_id, menu_id
     ), entered as (
       insert into feed (account_id, epoch, position, event_id, type, record, location_id, menu_id)
       select account_id, 0, row_number() over (partition by account_id order by event_id), event_id, type, record,
         location_id, menu_id
       from made
     )
     insert into account_feed (account_id, epoch, position, event_id)
     select account_id, 0, count(*), max(event_id::text)::uuid from made group by account_id`,
    [accounts],
  );
  // Otherwise the first read of each row changes its page as well.
  for (const table of ['event', 'feed', 'account_feed']) await query(`vacuum analyze ${table}`);
  await query('checkpoint');
  const { wal } = await cost(scene, async () => {
    await query(
      `with made as (
         insert into event (event_id, account_id, type, record, location_id, menu_id, payload)
         select uuidv7(), 1000 + n, type, record, n, n, payload
         from (select * from event limit 1) as one, generate_series(0, $1::int - 1) as n
         returning account_id, event_id
       )
       insert into outbox (account_id, event_id) select account_id, event_id from made`,
      [accounts],
    );
    await untilRelayed(scene);
  });
  return wal;
}

async function untilRelayed({ query }: Scene): Promise<void> {
  await until(0, async () => -Number((await query('select count(*) from outbox'))[0]?.['count']));
}

function row(name: string, count: number, sums: number[]): string[] {
  const each = sums.map((sum) => Math.round(sum / count).toLocaleString('en'));
  return [name, ...each, ...Array.from({ length: 5 - each.length }, () => '–')];
}

/** Waits until everything that the switches cause is done. */
async function switchItems(scene: Scene, seconds: number, endpoints: number): Promise<void> {
  const { write, query } = scene;
  const logged = async () => Number((await query('select count(*) from delivery_log'))[0]?.['count']);
  const before = await logged();
  await write(perSecond, seconds);
  await untilRelayed(scene);
  await until(before + seconds * perSecond * endpoints, logged);
}

/** Times in µs, sizes in bytes. */
interface Cost {
  service: number;
  server: number;
  wal: number;
  kept: number;
}

async function cost(scene: Scene, work: () => Promise<unknown>): Promise<Cost> {
  const before = await spent(scene);
  await work();
  const after = await spent(scene);
  return {
    service: after.service - before.service,
    server: after.server - before.server,
    wal: after.wal - before.wal,
    kept: after.kept - before.kept,
  };
}

async function spent({ service, query }: Scene): Promise<Cost> {
  const [sizes] = await query(
    `select pg_current_wal_insert_lsn() - '0/0'::pg_lsn as wal, (
       select sum(pg_total_relation_size(partition))
       from unnest(array['event', 'feed', 'delivery_log']::regclass[]) as parent, partitions_of(parent)
     ) as kept`,
  );
  return {
    service: processorTime(service.pid).all,
    server: await serverTime(query),
    wal: Number(sizes?.['wal']),
    kept: Number(sizes?.['kept']),
  };
}
