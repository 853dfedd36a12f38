import { sql } from 'kysely';
import pg from 'pg';
import t, { type Test } from 'tap';
import { type Database, openDatabase, poolUse } from '../../src/db/database.ts';
import { sessionLimits, sessionSettings } from '../../src/db/session.ts';
import { blocksRunBy } from '../docs/blocks.ts';
import { eventually, settled } from '../support/eventually.ts';
import { someItems } from '../support/menus.ts';
import { noPgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { startReceiver, subscribe, verify } from '../support/receiver.ts';
import { cloneDatabase, startTestService } from '../support/service.ts';

const skip = noPgBouncer;

function open(t: Test, connection: pg.PoolConfig, max = 1): Database {
  const database = openDatabase(connection, { max });
  t.teardown(() => database.destroy());
  return database;
}

/** The settings of a session that has any of ours, as the server shows them. */
async function shown(database: Database): Promise<Record<string, string>> {
  const names = Object.keys(sessionSettings(sessionLimits)).map((name) => name.toLowerCase());
  const { rows } = await sql<{ name: string; value: string }>`
    select lower(name) as name, current_setting(name) as value from pg_settings
    where lower(name) = any (${names})`.execute(database);
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

t.test('behind PgBouncer in session mode the service works, deliveries and all', { skip }, async (t) => {
  const { api, connection, database } = await startTestService(t, {
    connect: (connection) => startPgBouncer(t, connection, { mode: 'session' }),
    worker: {},
  });
  const receiver = await startReceiver(t);
  const { secret } = await subscribe(t, api, receiver);
  const items = await someItems(api, 5);
  for (const headers of [{}, { 'idempotency-key': 'once' }]) {
    const responses = await Promise.all(
      items.map(({ path }) => api.post(`${path}/toggle`, undefined, { headers })),
    );
    for (const { status } of responses) t.equal(status, 200);
  }
  const { menu_id } = items[0];
  const { data } = (await api.get(`/menus/${menu_id}/content`)).body;
  t.equal((await api.put(`/menus/${menu_id}/content`, { data })).status, 200);
  await receiver.until(10);
  await settled(open(t, connection));
  for (const delivery of receiver.deliveries) t.ok(verify(delivery, secret));
  t.strictSame(poolUse(database).discards, { silent: 0, unclean: 0, outdated: 0 });
});

t.test('there a client that hangs in a transaction does not keep its locks', { skip }, async (t) => {
  const connection = await cloneDatabase(t);
  const way = await startPgBouncer(t, connection, { mode: 'session' });
  const hanging = open(t, { ...way, idle_in_transaction_session_timeout: 300 });
  const other = open(t, way);
  const [locked, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const failed = t.rejects(
    hanging.transaction().execute(async (transaction) => {
      await sql`update account set name = 'hangs'`.execute(transaction);
      locked.resolve();
      await done.promise;
      await sql`select 1`.execute(transaction);
    }),
  );
  await locked.promise;
  await sql`update account set name = name || '!'`.execute(other);
  done.resolve();
  await failed;
  const { rows } = await sql`select from account where name like 'hangs%'`.execute(other);
  t.equal(rows.length, 0);
});

t.test(
  'there each connection has limits of its own, whose ever its server was before',
  { skip },
  async (t) => {
    const way = await startPgBouncer(t, await cloneDatabase(t), { mode: 'session', servers: 1 });
    const patient = openDatabase({ ...way, statement_timeout: 0, lock_timeout: 0 }, { max: 1 });
    t.match(await shown(patient), { statement_timeout: '0', lock_timeout: '0' });
    await patient.destroy();
    t.match(await shown(open(t, way)), { statement_timeout: '10s', lock_timeout: '3500ms' });
  },
);

t.test('in transaction mode nothing is refused of what a connection begins with', { skip }, async (t) => {
  const way = await startPgBouncer(t, await cloneDatabase(t), { mode: 'transaction', servers: 1 });
  const database = open(t, way, 3);
  const one = () => sql<{ one: number }>`select 1 as one`.execute(database);
  for (const { rows } of await Promise.all([one(), one(), one()])) t.same(rows, [{ one: 1 }]);
});

t.test('a role prepared as in docs/operations.md has the settings that a connection sets', async (t) => {
  const connection = await cloneDatabase(t);
  const expected = await shown(open(t, connection));
  const role = `${connection.database}_role`;
  const owner = new pg.Client({ ...connection, ssl: false } as pg.ClientConfig);
  await owner.connect();
  t.teardown(async () => {
    await owner.query(`drop role ${role}`);
    await owner.end();
  });
  await owner.query(`create role ${role} login`);
  const blocks = blocksRunBy(import.meta.url);
  t.equal(blocks.length, 1);
  for (const { text } of blocks) await owner.query(text.replaceAll('role menus', `role ${role}`));

  // Without anything of ours between.
  const client = new pg.Client({ ...connection, user: role, ssl: false } as pg.ClientConfig);
  await client.connect();
  t.teardown(() => client.end());
  for (const [name, value] of Object.entries(expected)) {
    const { rows } = await client.query(`select current_setting('${name}') as value`);
    t.equal(rows[0].value, value, name);
  }
  t.equal(Object.keys(expected).length, Object.keys(sessionSettings(sessionLimits)).length);
});

t.test(
  'a connection whose server was ended behind PgBouncer is replaced by one with the same settings',
  { skip },
  async (t) => {
    const connection = await cloneDatabase(t);
    const way = await startPgBouncer(t, connection, { mode: 'session' });
    const database = open(t, way);
    await sql`select 1`.execute(database);
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`.execute(open(t, connection));
    await eventually('served again', async () => {
      const { rows } = await sql`select 1`.execute(database).catch(() => ({ rows: [] }));
      return rows.length === 1;
    });
    t.equal((await shown(database))['lock_timeout'], '3500ms');
  },
);
