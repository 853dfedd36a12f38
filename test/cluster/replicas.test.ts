import t, { type Test } from 'tap';
import { createClient } from '../../scripts/launch.ts';
import { noTerminal } from '../docs/terminal.ts';
import { environmentFor } from '../procedures/clients.ts';
import { type DatabaseServer, openSite } from '../procedures/server.ts';
import { type Api, createApi } from '../support/api.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts';
import { eventually } from '../support/eventually.ts';
import { startProcess } from '../support/process.ts';
import { startReceiver } from '../support/receiver.ts';
import { makeTree } from '../support/records.ts';
import { noRedis, type RunningRedis, startRedis } from '../support/redis.ts';

/*
 * Two API processes and a worker on a primary and a replica of it, which replays what it gets three seconds late. What
 * an account has once written or been shown it must be shown by both processes, from whichever server.
 */

t.setTimeout(280_000);

const skip = noTerminal || noRedis;

t.test('reads from a replica', { skip }, async (t) => {
  const serve = await setUp(t);

  await t.test('an account is never shown less than it has written or seen', async (t) => {
    const { apis, item, menu, served } = await serve(t, { lateMs: 3_000, maxLag: '30' });
    const [one, other] = apis;
    const paths = [
      `/menus/${menu.menu_id}`,
      `/menus/${menu.menu_id}/content`,
      `/menus/${menu.menu_id}/items`,
      `/items?location_id=${menu.location_id}`,
      item.path,
    ];
    let version = item.version;
    let listed = 0;
    for (let n = 0; n < 20; n += 1) {
      const writer = n % 2 === 0 ? one : other;
      const reader = n % 2 === 0 ? other : one;
      const name = `Version ${n}`;
      version = (await writer.put(item.path, { name })).body.data.version;
      for (const path of paths) t.match((await reader.get(path)).text, `"${name}"`, `${n}: ${path}`);
      const { body } = await reader.get('/events?type=item.updated');
      t.ok(body.data.length >= listed, 'the feed goes no further back than it did');
      listed = body.data.length;
    }

    // As soon as the replica has it all, it serves.
    const before = await served();
    await eventually('the replica serves', async () => {
      const { body } = await one.get(item.path);
      if (body.data.version < version) t.fail('an older version was shown');
      return (await served()) > before;
    });
  });

  await t.test('a receiver that reads what an event is about sees it', async (t) => {
    const { apis, item, menu } = await serve(t, { lateMs: 3_000, maxLag: '30' });
    const [one, other] = apis;
    let older = 0;
    let looked = 0;
    const receiver = await startReceiver(t, async ({ event }) => {
      const { version } = event.data as { version: number };
      const { body } = await other.get(`/menus/${menu.menu_id}/items`);
      const shown = body.data.find((one: { item_id: number }) => one.item_id === item.item_id);
      if (shown.version < version) older += 1;
      looked += 1;
      return 204;
    });
    await one.post('/webhooks', { url: receiver.url, event_types: ['item.toggled'] });
    for (let n = 0; n < 30; n += 1) await one.post(`${item.path}/toggle`);
    await eventually('all have looked', async () => looked >= 30);
    t.equal(older, 0);
  });

  await t.test('without Redis everything is read from the primary', async (t) => {
    const { apis, item, served, redis } = await serve(t, { lateMs: 0, maxLag: '5' });
    const [one, other] = apis;
    redis.server.kill('SIGKILL');
    await eventually('nobody trusts the replica', async () => {
      const before = await served();
      for (let n = 0; n < 5; n += 1) await Promise.all([one.get(item.path), other.get(item.path)]);
      return (await served()) === before;
    });
    const name = 'Renamed meanwhile';
    await one.put(item.path, { name });
    t.equal((await other.get(item.path)).body.data.name, name);
    await redis.restart();
    const before = await served();
    await eventually('the replica serves again', async () => {
      const { body } = await other.get(item.path);
      if (body.data.name !== name) t.fail('an older version was shown');
      return (await served()) > before;
    });
  });

  await t.test('a replica that is late, hangs, is promoted or gone is left out', async (t) => {
    const { apis, item, served, isRead, replica, proxy } = await serve(t, { lateMs: 0, maxLag: '1' });
    const [one] = apis;
    await eventually('the replica is read from', isRead);
    const reading = startReading(t, apis, item.path);

    await replica.query('select pg_wal_replay_pause()');
    await one.post(`${item.path}/toggle`);
    await eventually('it is late and left out', async () => !(await isRead()));
    await replica.query('select pg_wal_replay_resume()');
    await eventually('it is read from again', isRead);

    proxy.stall();
    await eventually('it hangs and is left out', async () => !(await isRead()));
    proxy.resume();
    await eventually('it is read from again', isRead);
    const before = await served();
    await eventually('it serves', async () => (await served()) > before);

    await replica.query('select pg_promote()');
    await eventually('it is promoted and left out', async () => !(await isRead()));
    await replica.crash();
    await one.post(`${item.path}/toggle`);
    const { calls, slowestMs } = await reading.stop();
    t.comment(`${calls} reads, the slowest took ${Math.round(slowestMs)} ms`);
  });
});

interface Options {
  /** How much later the replica replays what it gets. */
  lateMs: number;
  /** REPLICA_MAX_LAG of the processes, in seconds. */
  maxLag: string;
}

interface World {
  /** Of one client, by two processes. */
  apis: [Api, Api];
  menu: { menu_id: number; location_id: number };
  item: { item_id: number; version: number; path: string };
  redis: RunningRedis;
  replica: DatabaseServer;
  proxy: DatabaseProxy;
  /** Calls that the replica has served in both processes. */
  served(): Promise<number>;
  /** Whether both processes read from it. */
  isRead(): Promise<boolean>;
}

/** A primary, a replica of it, and Redis, for processes that each test starts anew. */
async function setUp(t: Test): Promise<(t: Test, options: Options) => Promise<World>> {
  const site = await openSite(t);
  const primary = await site.createServer('primary');
  const replica = await site.prepareServer('replica');
  const { host, port, user } = primary.connection;
  replica.run(
    'pg_basebackup',
    ...['--dbname', `host=${host} port=${port} user=${user}`, '--pgdata', replica.data],
    ...['--checkpoint', 'fast', '--write-recovery-conf'],
  );
  replica.run('pg_ctl', 'start', '--log', `${replica.data}.log`);
  const proxy = await startDatabaseProxy(t, replica.connection);
  const redis = await startRedis(t);
  const credentials = await createClient({ ...environmentFor(primary.connection), MIGRATE: 'on' }, 'Acme');

  return async (t, { lateMs, maxLag }) => {
    await replica.query(`alter system set recovery_min_apply_delay = ${lateMs}`);
    await replica.query('select pg_reload_conf()');
    const env = {
      ...environmentFor(primary.connection),
      DATABASE_REPLICA_URL: `postgres://${user}@127.0.0.1:${proxy.port}/menus`,
      REPLICA_MAX_LAG: maxLag,
      REDIS_URL: redis.url,
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
      PORT: '0',
    };
    const services = await Promise.all([startProcess(t, { ...env, ROLE: 'api' }), startProcess(t, env)]);
    const [one, other] = services.map(({ url }) => createApi(url, { ...credentials, account_id: 1 }));
    if (!one || !other) throw new Error('two were started');
    const { menu, item } = await makeTree(one);
    const metric = async (name: string) => {
      const texts = services.map(async ({ url }) => (await fetch(`${url}/metrics`)).text());
      return (await Promise.all(texts)).map((text) =>
        Number(new RegExp(`^${name}{.*?} (.*)$`, 'm').exec(text)?.[1]),
      );
    };
    return {
      apis: [one, other],
      menu,
      item: { ...item, path: `/menus/${menu.menu_id}/items/${item.item_id}` },
      redis,
      replica,
      proxy,
      served: async () => (await metric('menus_replica_calls_total')).reduce((a, b) => a + b, 0),
      isRead: async () => (await metric('menus_replica_up')).every((up) => up === 1),
    };
  };
}

/** Reads in turn from both processes, each of which must show what the last one has. */
function startReading(t: Test, apis: [Api, Api], path: string) {
  let isOver = false;
  let calls = 0;
  let slowestMs = 0;
  let seen = 0;
  const reading = (async () => {
    while (!isOver) {
      const startedAt = performance.now();
      const { status, body } = await (apis[calls % 2] as Api).get(path);
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
      if (status !== 200) t.fail(`a read got ${status}`);
      else if (body.data.version < seen) t.fail('an older version was shown');
      else seen = body.data.version;
      calls += 1;
    }
  })();
  return {
    async stop() {
      isOver = true;
      await reading;
      return { calls, slowestMs };
    },
  };
}
