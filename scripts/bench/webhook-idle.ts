import { sql } from 'kysely';
import { openDatabase } from '../../src/db/database.ts';
import { readBacklog } from '../../src/webhooks/delivery/backlog.ts';
import { backendTime } from './rig/backend-time.ts';
import { processorTime } from './rig/processor-time.ts';
import { makeEvents, quantile, type Scene, until, webhookBench } from './rig/webhooks.ts';

export const webhookIdle = webhookBench(
  'webhookIdle',
  'what 100,000 endpoints that wait cost those that do not',
  measure,
);

/** Alternates between 100 idle endpoints and all of them. The work is the same: send what is due, read the metrics. */
async function measure(scene: Scene): Promise<string[][]> {
  const { options, say } = scene;
  const [few, many] = options.quick ? [100, 2_000] : [100, 100_000];
  const events = options.quick ? 200 : 1_000;
  await scene.subscribe(Array.from({ length: 10 }, (_, n) => `/ok/${n}`));
  await costs(scene, events);
  const rounds: { few: Costs; many: Costs }[] = [];
  for (let round = 0; round < options.rounds; round += 1) {
    await addIdle(scene, few);
    const beside = { few: await costs(scene, events), many: { delivery: 0, metrics: 0 } };
    await addIdle(scene, many - few);
    beside.many = await costs(scene, events);
    await removeIdle(scene);
    rounds.push(beside);
    say(`webhookIdle: µs beside ${few} and beside ${many}: ${JSON.stringify(beside)}`);
  }
  const median = (of: (round: (typeof rounds)[number]) => number) => quantile(rounds.map(of), 0.5);
  const row = (what: string, kind: keyof Costs) => [
    `processor time of PostgreSQL for ${what}, beside ${few} and beside ${many.toLocaleString('en')} endpoints that wait for a retry`,
    `${median((round) => round.few[kind]).toFixed(0)} and ${median((round) => round.many[kind]).toFixed(0)} µs (${median(
      (round) => round.many[kind] / round.few[kind],
    ).toFixed(2)})`,
    'about the same',
  ];
  return [
    row(`a delivery (${(10 * events).toLocaleString('en')} in a round)`, 'delivery'),
    row('reading the metrics', 'metrics'),
  ];
}

/** In microseconds. */
interface Costs {
  delivery: number;
  metrics: number;
}

async function costs(scene: Scene, events: number): Promise<Costs> {
  const { service } = scene;
  const delivered = await backendTime(scene, async () => {
    await makeEvents(scene, events);
    await until(0, async () => -(await unfinished(scene)), { everyMs: 20, patienceMs: 120_000 });
  });
  const reads = 20;
  let metrics = 0;
  const database = openDatabase(scene.server.connection, { max: 1 });
  try {
    await readBacklog(database);
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(database);
    const time = () => processorTime(rows[0]?.pid ?? service.pid).all;
    const before = time();
    for (let n = 0; n < reads; n += 1) await readBacklog(database);
    metrics = (time() - before) / reads;
  } finally {
    await database.destroy();
  }
  return { delivery: (delivered * 1_000) / (10 * events), metrics };
}

async function unfinished({ query }: Scene): Promise<number> {
  const [row] = await query(
    `select (select count(*) from outbox) + (select count(*) from delivery where state in ('held', 'pending')
       and event_type <> 'idle') as left`,
  );
  return Number(row?.['left']);
}

/** Each wants other events, and has a delivery that is due in a day. */
async function addIdle(scene: Scene, endpoints: number): Promise<void> {
  const { query } = scene;
  await query(
    `with idle as (
       insert into webhook (account_id, url, event_types)
       select 1, 'https://example.com/', '{menu.deleted}' from generate_series(1, $1::int) returning webhook_id
     ),
     noted as (
       insert into endpoint_due (webhook_id, account_id, look_at, oldest_at)
       select webhook_id, 1, now(), '-infinity' from idle
     )
     insert into delivery
       (account_id, webhook_id, event_id, event_sequence, event_type, record, state, next_attempt_at)
     select 1, webhook_id, uuidv7(), 1, 'idle', 'item:1', 'pending', now() + interval '1 day' from idle`,
    [endpoints],
  );
  const added = await query("select count(*)::int as count from delivery where event_type = 'idle'");
  await until(Number(added[0]?.['count']), () => putOff(scene), { patienceMs: 120_000 });
  await query('vacuum analyze endpoint_due, webhook, delivery');
}

async function removeIdle({ query }: Scene): Promise<void> {
  await query("delete from webhook where event_types = '{menu.deleted}'");
  await query("delete from delivery where event_type = 'idle'");
}

async function putOff({ query }: Scene): Promise<number> {
  const [row] = await query(
    "select count(*)::int as count from endpoint_due where look_at > now() + interval '1 hour'",
  );
  return row?.['count'] as number;
}
