import { backendTime } from './rig/backend-time.ts';
import { makeEvents, quantile, type Scene, until, webhookBench } from './rig/webhooks.ts';

export const webhookRelay = webhookBench(
  'webhookRelay',
  'what the relay costs, and how long one account makes another wait',
  measure,
);

const accounts = { flooding: 1_000_001, other: 1_000_002 };

/** Nothing is sent: all endpoints are disabled, or subscribed to other events. */
async function measure(scene: Scene): Promise<string[][]> {
  const { options } = scene;
  const rows: string[][] = [];
  for (const endpoints of [100, 1_000, 10_000])
    rows.push(await unwanted(scene, endpoints, options.quick ? 500 : 5_000));
  rows.push(...(await wait(scene, options.quick ? 2_000 : 100_000)));
  for (const endpoints of [3, 100])
    rows.push(await wanted(scene, endpoints, Math.round((options.quick ? 1_500 : 15_000) / endpoints)));
  return rows;
}

async function unwanted(scene: Scene, endpoints: number, events: number): Promise<string[]> {
  const { query, say } = scene;
  await query(
    `insert into webhook (account_id, url, event_types)
     select 1, 'https://example.com/', '{menu.deleted}' from generate_series(1, $1::int)`,
    [endpoints],
  );
  const ms = (await relayed(scene, events)) / events;
  await query('truncate webhook cascade');
  say(`webhookRelay: ${ms.toFixed(3)} ms for each event, ${endpoints} endpoints`);
  return [
    `processor time of PostgreSQL for the relay of an event that none of ${endpoints.toLocaleString('en')} endpoints wants, of ${events.toLocaleString('en')}`,
    `${ms.toFixed(3)} ms`,
    endpoints >= 1_000 ? 'at most 0.1 ms' : '',
  ];
}

/** Only one relay works at a time, so this is also the number of events a database can take per second. */
async function wanted(scene: Scene, endpoints: number, events: number): Promise<string[]> {
  const { query, say } = scene;
  await query('truncate webhook, delivery cascade');
  await query(
    `insert into webhook (account_id, url, enabled)
     select 1, 'https://example.com/', false from generate_series(1, $1::int)`,
    [endpoints],
  );
  const ms = (await relayed(scene, events)) / events;
  say(`webhookRelay: ${ms.toFixed(3)} ms for each event, which ${endpoints} endpoints want`);
  return [
    `processor time of PostgreSQL for the relay of an event that ${endpoints} endpoints want, of ${events.toLocaleString('en')}`,
    `${ms.toFixed(3)} ms`,
    '',
  ];
}

/** CPU time of PostgreSQL, in milliseconds, from the commit of `events` events until the outbox is empty. */
async function relayed(scene: Scene, events: number): Promise<number> {
  await makeEvents(scene, 0);
  return backendTime(scene, async () => {
    await copy(scene, 1, events);
    await until(0, async () => -(await waiting(scene, '')), { everyMs: 5, patienceMs: 600_000 });
  });
}

/** Events of one account arrive ten times a second while another account's flood is relayed to 10 paused endpoints. */
async function wait(scene: Scene, flood: number): Promise<string[][]> {
  const { query, say } = scene;
  await query(
    `insert into account (account_id, name) overriding system value values ($1, 'flooding'), ($2, 'other')
     on conflict do nothing`,
    [accounts.flooding, accounts.other],
  );
  await query(
    `insert into webhook (account_id, url, enabled)
     select $1, 'https://example.com/', false from generate_series(1, 10)`,
    [accounts.flooding],
  );
  await makeEvents(scene, 0);
  await copy(scene, accounts.flooding, flood);
  const waits: Wait[] = [];
  while (waits.length < 100 && (await waiting(scene, `where account_id = ${accounts.flooding}`)) > 0)
    waits.push(await oneOfAnother(scene));
  const row = (what: string, of: (wait: Wait) => number) => {
    const [usual, last] = [quantile(waits.map(of), 0.5), quantile(waits.map(of), 0.99)];
    say(
      `webhookRelay: ${what} of ${waits.length} events of another account: ${usual.toFixed(0)}, p99 ${last.toFixed(0)} ms`,
    );
    return [
      `${what} from an event until it is relayed behind ${flood.toLocaleString('en')} of another account, median and p99 of ${waits.length}`,
      `${usual.toFixed(0)} and ${last.toFixed(0)} ms`,
      'under 1,000 ms',
    ];
  };
  return [
    row('time', ({ clock }) => clock),
    row('processor time of PostgreSQL', ({ processor }) => processor),
  ];
}

/** In milliseconds. */
interface Wait {
  clock: number;
  processor: number;
}

async function oneOfAnother(scene: Scene): Promise<Wait> {
  const start = performance.now();
  const processor = await backendTime(scene, async () => {
    await copy(scene, accounts.other, 1);
    await until(0, async () => -(await waiting(scene, `where account_id = ${accounts.other}`)), {
      everyMs: 5,
      patienceMs: 600_000,
    });
  });
  return { clock: performance.now() - start, processor };
}

async function copy({ query }: Scene, account: number, count: number): Promise<void> {
  await query(
    `with copies as (
       insert into event (event_id, account_id, type, record, location_id, menu_id, payload)
       select uuidv7(), $1, type, 'item:' || n, location_id, menu_id, payload
       from (select * from event limit 1) as one, generate_series(1, $2::int) as n
       returning account_id, event_id
     )
     insert into outbox (account_id, event_id) select account_id, event_id from copies`,
    [account, count],
  );
}

async function waiting({ query }: Scene, where: string): Promise<number> {
  return (await query(`select count(*)::int from (select from outbox ${where} limit 1) as one`))[0]?.[
    'count'
  ] as number;
}
