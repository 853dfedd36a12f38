import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { createClient } from '../../src/accounts/client.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { allScopes } from '../../src/http/scopes.ts';
import { createApi } from '../support/api.ts';
import { eventually, settled } from '../support/eventually.ts';
import { someItems } from '../support/menus.ts';
import { startReceiver, subscribe, verify } from '../support/receiver.ts';
import { makeItem, makeTree } from '../support/records.ts';
import { cloneDatabase, startTestService } from '../support/service.ts';

/*
 * What an administrator may have set for the database, beside the service or without a thought of it.
 */

/** A database with these defaults for its sessions. */
async function databaseWith(t: Test, defaults: Record<string, string>) {
  const connection = await cloneDatabase(t);
  const owner = openDatabase(connection, { max: 1 });
  for (const [name, value] of Object.entries(defaults)) {
    const database = sql.id(connection.database ?? '');
    await sql`alter database ${database} set ${sql.raw(name)} = ${sql.lit(value)}`.execute(owner);
  }
  await owner.destroy();
  return connection;
}

const written = {
  DateStyle: 'SQL, DMY',
  IntervalStyle: 'sql_standard',
  TimeZone: 'Asia/Kathmandu',
  bytea_output: 'escape',
  standard_conforming_strings: 'off',
  array_nulls: 'off',
  extra_float_digits: '-10',
  client_encoding: 'LATIN1',
  plan_cache_mode: 'force_generic_plan',
};

t.test('in whatever form the database writes values by default, the service is the same', async (t) => {
  const connection = await databaseWith(t, written);
  const { api, database } = await startTestService(t, { connection, worker: { retryDelay: () => 1 } });
  const receiver = await startReceiver(t, (_delivery, nth) => (nth === 1 ? 500 : 204));
  const { webhook_id, secret } = await subscribe(t, api, receiver);

  const { item } = await makeTree(api);
  const name = String.raw`鮭 50% \ _ 'x'`;
  const { item_id } = await makeItem(api, item, { name });
  const list = `/menus/${item.menu_id}/items`;
  const found = async (q: string) =>
    (await api.get(`${list}?q=${encodeURIComponent(q)}`)).body.data.map((one: { name: string }) => one.name);
  t.strictSame(await found(String.raw`0% \ _`), [name]);
  t.strictSame(await found('%'), [name]);
  t.strictSame(await found(String.raw`\\`), []);
  const [until, back] = ['2099-03-01T12:00:00.000Z', '2099-03-01T17:45:00+05:45'];
  const changes = [
    { item_id, is_available: false, unavailable_until: back },
    { item_id: item.item_id, is_available: false },
  ];
  const set = await api.post(`/menus/${item.menu_id}/availability`, { items: changes });
  t.equal(set.status, 200, set.text);
  t.equal((await api.get(`${list}/${item_id}`)).body.data.unavailable_until, until);
  const keyed = { headers: { 'idempotency-key': 'once' } };
  const toggled = await api.post(`${list}/${item_id}/toggle`, undefined, keyed);
  t.equal((await api.post(`${list}/${item_id}/toggle`, undefined, keyed)).text, toggled.text);

  await settled(database);
  t.ok(receiver.deliveries.length > 4);
  for (const delivery of receiver.deliveries) t.ok(verify(delivery, secret));
  const { data: deliveries } = (await api.get(`/webhooks/${webhook_id}/deliveries`)).body;
  for (const { last_attempt } of deliveries)
    t.ok(Math.abs(Date.parse(last_attempt.started_at) - Date.now()) < 60_000);
  const rotated = await api.post(`/webhooks/${webhook_id}/rotate-secret`);
  t.equal(rotated.status, 200, rotated.text);
  const first = (await api.get('/events?limit=1')).body;
  const rest = (await api.get(`/events?cursor=${first.next_cursor}`)).body;
  t.ok(rest.data.length > 2);
});

for (const level of ['repeatable read', 'serializable']) {
  t.test(
    `where transactions are ${level} by default, a write that waited for another succeeds`,
    async (t) => {
      const service = await startTestService(t, {
        connection: await databaseWith(t, { default_transaction_isolation: level }),
      });
      const { api, connection } = service;
      const [{ path, version, item_id }] = await someItems(api, 1);
      const other = openDatabase(connection, { max: 2 });
      t.teardown(() => other.destroy());
      for (const headers of [{}, { 'idempotency-key': 'k' }]) {
        const waiting = await other.transaction().execute(async (transaction) => {
          await transaction
            .updateTable('item')
            .set({ version: sql`version + 1` })
            .where('item_id', '=', item_id)
            .execute();
          const waiting = api.post(`${path}/toggle`, undefined, { headers });
          await eventually('the write waits', () => isWaiting(other));
          return { waiting };
        });
        t.equal((await waiting.waiting).status, 200);
      }
      t.equal((await api.get(path)).body.data.version, version + 4);
    },
  );
}

t.test('limits of the role or the database have no effect on those of the service', async (t) => {
  const connection = await databaseWith(t, {
    statement_timeout: '1ms',
    lock_timeout: '1ms',
    idle_in_transaction_session_timeout: '1ms',
  });
  const { api, database } = await startTestService(t, { connection });
  const [{ path }] = await someItems(api, 1);
  t.equal((await api.post(`${path}/toggle`)).status, 200);
  await database.transaction().execute(async (transaction) => {
    await sql`select pg_sleep(0.05)`.execute(transaction);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await sql`select 1`.execute(transaction);
  });
});

t.test('the tables may be in any schema that search_path leads to', async (t) => {
  const connection = await databaseWith(t, { search_path: 'restaurant' });
  const owner = openDatabase(connection, { max: 1 });
  t.teardown(() => owner.destroy());
  await sql`drop schema public cascade`.execute(owner);
  await sql`create schema restaurant`.execute(owner);
  await migrate(connection);
  const account = 'Sakura';
  const credentials = await createClient(owner, { account, scopes: [...allScopes], locationIds: null });
  const { url } = await startTestService(t, { connection, worker: {} });
  const api = createApi(url, credentials);
  const { item } = await makeTree(api);
  t.equal((await api.post(`/menus/${item.menu_id}/items/${item.item_id}/toggle`)).status, 200);
  t.equal((await api.get(`/menus/${item.menu_id}/items?q=salm`)).body.data.length, 1);
});

async function isWaiting(database: Database): Promise<boolean> {
  const { rows } = await sql`select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(database);
  return rows.length > 0;
}
