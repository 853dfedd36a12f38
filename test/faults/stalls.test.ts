import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { type Api, type ApiResponse, send } from '../support/api.ts';
import { startBehindProxy } from '../support/database-proxy.ts';
import { eventually, settled } from '../support/eventually.ts';
import { type ItemAt, someItems } from '../support/menus.ts';
import { startReceiver, subscribe } from '../support/receiver.ts';
import { makeCategory, makeTree } from '../support/records.ts';
import { cloneDatabase, type TestService } from '../support/service.ts';

/*
 * The network to the database stops for a while, or connections die without a sign. What was answered 200 must be
 * there afterwards, what was not is answered 503, and nobody waits for long.
 */

const unavailable = { status: 503, body: { code: 'service_unavailable' } };

// Shorter than those of the service, so that nobody waits for them.
const limits = { query_timeout: 600, connectionTimeoutMillis: 400, statement_timeout: 600 };

t.test('a write after a stall stays, although a delete was in progress during it', async (t) => {
  const service = await startBehindProxy(t, {
    limits: { ...limits, idle_in_transaction_session_timeout: 800 },
  });
  const { api, proxy } = service;
  const observer = observe(t, service);
  const { item, category } = await makeTree(api);
  const path = `/menus/${item.menu_id}/items/${item.item_id}`;

  proxy.stall();
  const deleted = await api.delete(`/menus/${item.menu_id}/categories/${category.category_id}`);
  t.match(deleted, unavailable);
  t.ok(Number(deleted.headers['retry-after']) >= 1);
  proxy.resume();

  for (const version of [2, 3, 4]) t.match(await api.post(`${path}/toggle`), ok(version));
  t.match(await api.put(path, { price: 77 }), ok(5));
  await noTransactionIsLeft(observer);
  t.match(await stored(observer, item.item_id), { version: 5, price: 77, is_available: !item.is_available });
  t.match(await api.get(path), ok(5), 'and read back');
});

t.test('a stall under load loses nothing acknowledged, and all goes on, deliveries included', async (t) => {
  const service = await startBehindProxy(t, { limits, worker: { leaseMs: 1_000, retryDelay: () => 50 } });
  const { api, proxy, url } = service;
  const observer = observe(t, service);
  const receiver = await startReceiver(t);
  await subscribe(t, api, receiver);
  const items = await someItems(api, 4);
  const { menu_id } = (await makeTree(api)).menu;
  const doomed = await Promise.all(range(1, 4).map(() => makeCategory(api, menu_id)));
  const writing = startWriting(api, items);
  await receiver.until(8);

  proxy.stall();
  for (const response of await Promise.all(
    doomed.map(({ category_id }) => api.delete(`/menus/${menu_id}/categories/${category_id}`)),
  ))
    t.match(response, unavailable);
  await eventually(
    'several calls failed',
    async () => writing.statuses.filter((one) => one === 503).length > 12,
  );
  proxy.resume();
  const resumed = performance.now();
  await eventually('served again', () => serves(service, items[0]));
  t.ok(performance.now() - resumed < 5_000, 'within five seconds');
  t.equal((await send(url, 'GET', '/health/ready', {})).status, 200);
  await pause(200);
  const acknowledged = await writing.stop();
  t.strictSame([...new Set(writing.statuses)].toSorted(), [200, 503]);

  await noTransactionIsLeft(observer);
  await settled(observer);
  for (const { item_id, version } of items) {
    const { version: last } = await stored(observer, item_id);
    const told = await toldVersions(observer, item_id);
    t.strictSame(told, range(version + 1, last), 'one event for each version');
    const answered = acknowledged.get(item_id) ?? [];
    t.strictSame(
      answered.filter((one) => !told.includes(one)),
      [],
      'every version that was answered',
    );
    const received = receiver.deliveries.map(({ event }) => event.data as ItemAt);
    const versions = new Set(received.filter((one) => one.item_id === item_id).map((one) => one.version));
    t.strictSame([...versions], told, 'is delivered, in order');
  }
});

t.test('connections that go dark without a sign cost one round of calls, not one each', async (t) => {
  const service = await startBehindProxy(t, { limits, worker: {} });
  const { api, proxy, url } = service;
  const items = await someItems(api, 4);
  await Promise.all(range(1, 12).map(() => api.get('/menus')));

  proxy.goDark();
  const first = performance.now();
  t.match(await api.post(`${items[0].path}/toggle`), unavailable);
  t.ok(performance.now() - first < 1_500, 'not for the length of a TCP time-out');
  for (const { path } of items) t.equal((await api.post(`${path}/toggle`)).status, 200);
  t.equal((await send(url, 'GET', '/health/ready', {})).status, 200);
  await settled(observe(t, service));
  const { text } = await send(url, 'GET', '/metrics', {});
  t.match(text, /^menus_database_connections_given_up_total\{reason="silent"\} [1-9]/m);
});

t.test('a new server at the address is used within five seconds', async (t) => {
  const service = await startBehindProxy(t, { limits, worker: {} });
  const { api, proxy, url } = service;
  const successor = await cloneDatabase(t);
  const { item, category } = await makeTree(api);
  const [existing] = await someItems(api, 1);

  // The server is gone from the network, with a transaction begun on it.
  proxy.stall();
  t.match(await api.delete(`/menus/${item.menu_id}/categories/${category.category_id}`), unavailable);
  t.match(await send(url, 'GET', '/health/ready', {}), unavailable);
  const waiting = range(1, 20).map(() => api.get('/menus'));
  proxy.leadTo(successor);
  const since = performance.now();
  await eventually('served by the new one', () => serves(service, existing));
  t.ok(performance.now() - since < 5_000);
  for (const response of await Promise.all(waiting)) t.ok([200, 401, 503].includes(response.status));
});

t.test('an import may wait longer than an ordinary call', async (t) => {
  const service = await startBehindProxy(t, { limits: { query_timeout: 600 } });
  const { api } = service;
  const { item } = await makeTree(api);
  const menu = `/menus/${item.menu_id}`;
  const { data } = (await api.get(`${menu}/content`)).body;
  const importing = await observe(t, service)
    .transaction()
    .execute(async (transaction) => {
      await transaction
        .selectFrom('menu')
        .select('name')
        .where('menu_id', '=', item.menu_id)
        .forUpdate()
        .execute();
      const changed = { ...data, categories: [] };
      const importing = api.put(`${menu}/content`, { data: changed });
      t.match(await api.put(menu, { name: 'Late' }), unavailable);
      return { response: importing };
    });
  t.equal((await importing.response).status, 200);
});

/** The database by a way of its own. */
function observe(t: Test, { connection }: TestService): Database {
  const database = openDatabase(connection, { max: 2 });
  t.teardown(() => database.destroy());
  return database;
}

async function stored(observer: Database, itemId: number) {
  return observer
    .selectFrom('item')
    .select(['version', 'price', 'is_available'])
    .where('item_id', '=', itemId)
    .executeTakeFirstOrThrow();
}

async function toldVersions(observer: Database, itemId: number): Promise<number[]> {
  const { rows } = await sql<{ version: number }>`
    select (payload -> 'data' ->> 'version')::int as version from event
    where record = ${`item:${itemId}`} order by event_id`.execute(observer);
  return rows.map(({ version }) => version);
}

/** Waits for the end of every transaction of the service, by itself or by the server's limits. */
async function noTransactionIsLeft(observer: Database): Promise<void> {
  await eventually('no transaction is left', async () => {
    const { rows } = await sql`
      select from pg_stat_activity
      where datname = current_database() and state like 'idle in transaction%'`.execute(observer);
    return rows.length === 0;
  });
}

/** Toggles the items over and over; collects the statuses and, by item, the versions that were answered. */
function startWriting(api: Api, items: ItemAt[]) {
  const statuses: number[] = [];
  const acknowledged = new Map<number, number[]>();
  let stopping = false;
  const writers = [...items, ...items].map(async ({ path, item_id }) => {
    while (!stopping) {
      const { status, body } = await api.post(`${path}/toggle`);
      statuses.push(status);
      if (status === 200)
        acknowledged.set(item_id, [...(acknowledged.get(item_id) ?? []), body.data.version]);
      await pause(25);
    }
  });
  return {
    statuses,
    async stop() {
      stopping = true;
      await Promise.all(writers);
      return acknowledged;
    },
  };
}

/** Whether the service issues tokens, is ready and writes. @throws when one of them is answered neither 200 nor 503. */
async function serves({ api, url }: TestService, { path }: ItemAt): Promise<boolean> {
  const { client_id, client_secret } = api.credentials;
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret }).toString();
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const responses = await Promise.all([
    send(url, 'POST', '/api/v1/oauth/token', form, body),
    send(url, 'GET', '/health/ready', {}),
    api.post(`${path}/toggle`),
  ]);
  const other = responses.find(({ status }) => status !== 200 && status !== 503);
  if (other) throw new Error(`answered ${other.status}: ${other.text}`);
  // The token endpoint counts its calls.
  await pause(200);
  return responses.every(({ status }) => status === 200);
}

function ok(version: number): Partial<ApiResponse> {
  return { status: 200, body: { data: { version } } };
}

function range(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}
