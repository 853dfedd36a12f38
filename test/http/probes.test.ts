import { sql } from 'kysely';
import t from 'tap';
import { WatchedClient } from '../../src/db/client.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { send } from '../support/api.ts';
import { startBehindProxy } from '../support/database-proxy.ts';
import { eventually } from '../support/eventually.ts';
import { someItems } from '../support/menus.ts';
import { startTestService, type TestService } from '../support/service.ts';

const unavailable = { status: 503, body: { code: 'service_unavailable' } };
const limits = { query_timeout: 300, connectionTimeoutMillis: 200 };
const pool = { max: 2, stuckMs: 500 };

const live = ({ url }: TestService) => send(url, 'GET', '/health/live', {});
const ready = ({ url }: TestService) => send(url, 'GET', '/health/ready', {});

t.test('a process whose database is unavailable is alive and waits', async (t) => {
  const service = await startBehindProxy(t, { limits, pool });
  t.match(await live(service), { status: 200, body: { status: 'ok' } });
  await service.proxy.cut();
  await eventually('it says so', async () => {
    t.match(await ready(service), unavailable);
    const { status, body } = await live(service);
    t.equal(status, 200);
    return body.status === 'waiting for the database';
  });
  service.proxy.silence();
  await service.proxy.restore();
  // Nobody has to ask anything.
  await eventually('it has noticed', async () => (await live(service)).body.status === 'ok');
  t.match(await ready(service), { status: 200 });
});

t.test('probes at once share their look at the database', async (t) => {
  const service = await startTestService(t, { pool: { max: 1 } });
  const executed = t.capture(WatchedClient.prototype, 'query', WatchedClient.prototype.query);
  let arrived = 0;
  service.app.server.on('request', () => {
    arrived += 1;
  });
  const probes = await service.database.connection().execute(async () => {
    const begun = Array.from({ length: 50 }, () => ready(service));
    await eventually('all have arrived', async () => arrived === begun.length);
    return begun;
  });
  for (const probe of await Promise.all(probes)) t.match(probe, { status: 200, body: { status: 'ok' } });
  const looks = executed().filter(({ args: [text] }) => String(text).includes('transaction_read_only'));
  t.ok(looks.length <= 2, `${looks.length} looks`);
});

t.test('a process that cannot reach an available database reports that it is stuck', async (t) => {
  const service = await startBehindProxy(t, { limits, pool });
  const { database } = service;
  const leak = Promise.withResolvers<void>();
  const leaks = [1, 2].map(() => database.connection().execute(() => leak.promise));
  await eventually('it says so', async () => {
    t.match(await ready(service), unavailable);
    return (await live(service)).status === 503;
  });
  t.match(await live(service), { status: 503, body: { status: 'stuck' } });
  leak.resolve();
  await Promise.all(leaks);
  t.match(await ready(service), { status: 200 });
  await eventually('it is well again', async () => (await live(service)).status === 200);
});

t.test('on a database that has become read-only writes get 503 until it accepts them again', async (t) => {
  const service = await startTestService(t, { pool: { renewMs: 500 } });
  const { api, connection } = service;
  const name = sql.id(connection.database ?? '');
  const [{ path }] = await someItems(api, 1);
  const observer = openDatabase({ ...connection, database: 'postgres' }, { max: 1 });
  t.teardown(() => observer.destroy());
  await sql`alter database ${name} set default_transaction_read_only = on`.execute(observer);
  await cutConnections(observer, connection.database);

  const refused = await eventually('the service has noticed', async () => {
    const response = await api.post(`${path}/toggle`);
    return response.body.detail?.includes('no writes') && response;
  });
  t.match(refused, unavailable);
  t.ok(Number(refused.headers['retry-after']) >= 1);
  const keyed = { headers: { 'idempotency-key': 'k' } };
  t.match(await api.post(`${path}/toggle`, undefined, keyed), unavailable, 'in a transaction as well');
  t.equal((await api.get(path)).status, 200, 'reads are served');
  t.match(await ready(service), unavailable);
  t.equal((await live(service)).status, 200);

  // Sessions keep what they began with, as those do that lead to a server that was demoted.
  await sql`alter database ${name} reset default_transaction_read_only`.execute(observer);
  const since = performance.now();
  await eventually('ready again', async () => (await ready(service)).status === 200);
  t.ok(performance.now() - since < 5_000);
  t.equal((await api.post(`${path}/toggle`)).status, 200);
  t.equal((await api.get(path)).status, 200);
});

t.test('on a full disk writes get 503, and the process is not ready until there is room', async (t) => {
  const service = await startTestService(t);
  const { api, database } = service;
  const [{ path }] = await someItems(api, 1);
  await fillDisk(database);
  t.match(await api.post(`${path}/toggle`), unavailable);
  t.match(await ready(service), unavailable);
  t.match(await ready(service), unavailable);
  t.equal((await live(service)).status, 200);
  await sql`drop event trigger full_disk`.execute(database);
  t.equal((await ready(service)).status, 200);
  t.match(await api.post(`${path}/toggle`), unavailable, 'and not ready again');
  await sql`drop function full_disk cascade`.execute(database);
  t.equal((await api.post(`${path}/toggle`)).status, 200);
});

/** As far as statements can tell: no event and no new table finds a page. */
async function fillDisk(database: Database): Promise<void> {
  await sql`create function full_disk() returns trigger language plpgsql as
    $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`.execute(
    database,
  );
  await sql`create trigger full_disk before insert on event for each row execute function full_disk()`.execute(
    database,
  );
  await sql`create function full_disk_for_tables() returns event_trigger language plpgsql as
    $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`.execute(
    database,
  );
  await sql`create event trigger full_disk on ddl_command_start when tag in ('CREATE TABLE AS', 'CREATE TABLE')
    execute function full_disk_for_tables()`.execute(database);
}

async function cutConnections(observer: Database, name: string | undefined): Promise<void> {
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`.execute(observer);
}
