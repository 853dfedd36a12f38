import { sql } from 'kysely';
import t from 'tap';
import { noteDue } from '../../src/webhooks/delivery/due-endpoints.ts';
import { send } from '../support/api.ts';
import { startDatabaseProxy } from '../support/database-proxy.ts';
import { eventually } from '../support/eventually.ts';
import { demoItems } from '../support/items.ts';
import { startReceiver, subscribe } from '../support/receiver.ts';
import { startTestService } from '../support/service.ts';

t.test('responses are counted by operation and status, and paths are not labels', async (t) => {
  const { api, url } = await startTestService(t);
  for (let n = 0; n < 3; n += 1) await api.get('/menus');
  for (const id of [9_007_199_254_740_990, 9_007_199_254_740_991]) await api.get(`/menus/${id}`);
  await api.get('/menus', { token: null });
  for (const path of ['/unknown', '/api/v1/unknown/1', '/api/v1/unknown/2']) await send(url, 'GET', path, {});
  const { value, text } = await scrape(url);
  t.equal(value('menus_http_request_duration_seconds_count{operation="listMenus",status="200"}'), 3);
  t.equal(value('menus_http_request_duration_seconds_count{operation="listMenus",status="401"}'), 1);
  t.equal(value('menus_http_request_duration_seconds_count{operation="getMenu",status="404"}'), 2);
  t.equal(value('menus_http_request_duration_seconds_count{operation="none",status="404"}'), 3);
  t.notMatch(text, /unknown|"[^"]*900719/);
  const seconds = value('menus_http_request_duration_seconds_sum{operation="listMenus",status="200"}') ?? 0;
  t.ok(seconds > 0 && seconds < 60);
});

t.test('attempts are counted by outcome, and timed', async (t) => {
  const { api, url } = await startTestService(t, { worker: { retryDelay: (n) => (n < 3 ? 1 : null) } });
  const receiver = await startReceiver(t);
  await subscribe(t, api, receiver);
  const [first, second] = await demoItems(api);
  const outcomes = ({ value }: Metrics) =>
    ['delivered', 'retried', 'failed'].map((one) => value(`menus_webhook_attempts_total{outcome="${one}"}`));
  t.same(outcomes(await scrape(url)), [0, 0, 0]);
  receiver.reply = ({ event }) => ((event.data as { item_id: number }).item_id === first.item_id ? 500 : 204);
  for (const item of [first, second]) await api.post(`${item.path}/toggle`);
  const metrics = await eventually('all four attempts are counted', async () => {
    const found = await scrape(url);
    return outcomes(found)[2] === 1 && outcomes(found)[0] === 1 && found;
  });
  t.same(outcomes(metrics), [1, 2, 1]);
  t.equal(metrics.value('menus_webhook_attempt_duration_seconds_count'), 4);
});

t.test('the backlog of enabled endpoints and its age are read on request', async (t) => {
  const { api, url, database } = await startTestService(t);
  const backlog = ({ value }: Metrics) => [
    ...['unrelayed', 'pending', 'held'].map((state) => value(`menus_webhook_backlog{state="${state}"}`)),
    value('menus_webhook_oldest_undelivered_seconds'),
  ];
  t.same(backlog(await scrape(url)), [0, 0, 0, 0]);

  const hooks = 'https://hooks.example.com/';
  const on = (await api.post('/webhooks', { url: hooks })).body.data.webhook_id;
  const off = (await api.post('/webhooks', { url: hooks, enabled: false })).body.data.webhook_id;
  const queue = async (webhook_id: number, state: string, minutes: number) => {
    await sql`insert into delivery (account_id, webhook_id, event_id, event_sequence, event_type, record, state, next_attempt_at, created_at)
      values (${api.credentials.account_id}, ${webhook_id}, uuidv7(), 1, 'item.toggled', 'item:1', ${state},
        case when ${state} = 'pending' then now() end, now() - make_interval(mins => ${minutes}))`.execute(
      database,
    );
    await noteDue(database, [webhook_id], new Date(0));
  };
  await queue(on, 'pending', 2);
  await queue(on, 'pending', 1);
  await queue(on, 'held', 1);
  await queue(on, 'delivered', 60);
  await queue(on, 'failed', 60);
  await queue(off, 'pending', 60);
  await queue(off, 'held', 60);
  const [unrelayed, pending, held, oldest = 0] = backlog(await scrape(url));
  t.same([unrelayed, pending, held], [0, 2, 1]);
  t.ok(oldest >= 120 && oldest < 180, 'the older of the two, and not what nobody waits for');

  const [item] = await demoItems(api);
  await api.post(`${item.path}/toggle`);
  await sql`
    with older as (update event set event_id = uuidv7(interval '-5 minutes') returning event_id)
    update outbox set event_id = older.event_id from older`.execute(database);
  const [waiting, , , older = 0] = backlog(await scrape(url));
  t.equal(waiting, 1);
  t.ok(older >= 300 && older < 360, 'an event that no worker has taken up counts as well');
});

t.test('a reading of the backlog serves all scrapes of its time, and reports its age', async (t) => {
  const { api, url } = await startTestService(t, { keepBacklogMs: 3_600_000 });
  const [item] = await demoItems(api);
  const unrelayed = 'menus_webhook_backlog{state="unrelayed"}';
  const first = await scrape(url);
  t.equal(first.value(unrelayed), 0);
  await api.post(`${item.path}/toggle`);
  const later = await scrape(url);
  t.equal(later.value(unrelayed), 0);
  const age = 'menus_webhook_backlog_age_seconds';
  t.ok((first.value(age) ?? -1) >= 0);
  t.ok((later.value(age) ?? 0) > (first.value(age) ?? 0));
});

t.test('while the backlog takes long to read, all scrapes share one reading', async (t) => {
  const { api, url, database } = await startTestService(t);
  const [item] = await demoItems(api);
  const unrelayed = 'menus_webhook_backlog{state="unrelayed"}';
  t.equal((await scrape(url)).value(unrelayed), 0);
  await api.post(`${item.path}/toggle`);
  let most = 0;
  await database.transaction().execute(async (transaction) => {
    await sql`lock table webhook in access exclusive mode`.execute(transaction);
    let done = false;
    const scrapes = Promise.all(Array.from({ length: 10 }, () => scrape(url))).finally(() => {
      done = true;
    });
    while (!done) {
      const { rows } = await sql`select from pg_stat_activity
        where datname = current_database() and query like '%interval ''10 minutes''%' and state = 'active'
          and pid <> pg_backend_pid()`.execute(database);
      most = Math.max(most, rows.length);
    }
    for (const { value } of await scrapes) {
      t.equal(value(unrelayed), 0, 'the last one is served');
      t.ok((value('menus_webhook_backlog_age_seconds') ?? 0) > 0.9, 'with its age');
    }
  });
  t.equal(most, 1);
  t.equal((await scrape(url)).value(unrelayed), 1);
});

t.test('the pool and the process have metrics, and all of them are well-formed', async (t) => {
  const { url, api } = await startTestService(t);
  await api.get('/menus');
  const { value, text, mediaType } = await scrape(url);
  t.match(mediaType, /^text\/plain; version=0\.0\.4/);
  t.ok((value('menus_database_pool_connections{state="idle"}') ?? 0) >= 1);
  t.equal(value('menus_database_pool_waiting'), 0);
  for (const reason of ['silent', 'unclean', 'outdated'])
    t.equal(value(`menus_database_connections_given_up_total{reason="${reason}"}`), 0);
  t.equal(value('menus_redis_up'), undefined, 'there is none');
  t.ok((value('process_resident_memory_bytes') ?? 0) > 10_000_000);
  t.ok(value('nodejs_eventloop_lag_seconds') !== undefined);
  for (const line of text.split('\n').filter(Boolean)) {
    t.match(line, /^(# (HELP|TYPE) [a-z0-9_]+ .+|[a-z0-9_]+(\{([a-z_]+="[^"\n]*",?)*\})? (\S+))$/);
  }
});

t.test('while the database is unavailable the rest is still reported', async (t) => {
  let cut = async () => {};
  const { url } = await startTestService(t, {
    connect: async (connection) => {
      const proxy = await startDatabaseProxy(t, connection);
      cut = proxy.cut;
      return proxy.connection;
    },
  });
  await cut();
  const { value } = await scrape(url);
  t.equal(value('menus_webhook_oldest_undelivered_seconds'), undefined);
  t.equal(value('menus_database_pool_waiting'), 0);
});

interface Metrics {
  text: string;
  mediaType: string;
  /** The value of the line that begins so. */
  value(series: string): number | undefined;
}

async function scrape(url: string): Promise<Metrics> {
  const { status, text, headers } = await send(url, 'GET', '/metrics', {});
  t.equal(status, 200);
  const lines = new Map(
    text.split('\n').map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
  );
  return { text, mediaType: String(headers['content-type']), value: (series) => lines.get(series) };
}
