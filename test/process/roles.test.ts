import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { createClient } from '../../src/accounts/client.ts';
import { openDatabase } from '../../src/db/database.ts';
import { allScopes } from '../../src/http/scopes.ts';
import { createApi } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import {
  databaseEnvironment,
  dataDirectory,
  freePort,
  postgresOf,
  running,
  servingBelow,
  startProcess,
} from '../support/process.ts';
import { startReceiver } from '../support/receiver.ts';

t.setTimeout(120_000);

t.test('ROLE=api serves and sends nothing; ROLE=worker sends and serves no API', async (t) => {
  const receiver = await startReceiver(t);
  const env = { ...(await databaseEnvironment(t)), WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' };
  const api = await startProcess(t, { ...env, ROLE: 'api' });
  const client = createApi(api.url, await demoClient(env.DATABASE_URL));
  t.equal((await client.post('/webhooks', { url: receiver.url })).status, 201);
  const menus = await client.get('/menus?limit=1');
  const items = await client.get(`/menus/${menus.body.data[0].menu_id}/items?limit=1`);
  const { menu_id, item_id } = items.body.data[0];
  const toggled = await client.post(`/menus/${menu_id}/items/${item_id}/toggle`);
  t.equal(toggled.status, 200);
  // Long enough for a worker to have sent it, were there one in this process.
  await pause(500);
  t.equal(receiver.deliveries.length, 0);

  const worker = await startProcess(t, { ...env, ROLE: 'worker' });
  t.notMatch(worker.greeting, /ready at|docs|api/, 'it names no API');
  const [delivery] = await receiver.until(1);
  t.same(delivery?.event.data, toggled.body.data);
  t.same(servingBelow(worker.pid), []);
  for (const service of [worker, api]) {
    const outcome = await service.stop('SIGTERM');
    t.equal(outcome.ended, 0);
    t.equal(outcome.stderr, '');
  }
});

t.test('WORKERS=2 serves from two processes and survives the kill -9 of either', async (t) => {
  const DATA_DIR = dataDirectory(t);
  const service = await startProcess(t, { DATA_DIR, WORKERS: '2', PORT: String(await freePort()) });
  const [one = 0, two = 0, ...more] = servingBelow(service.pid);
  t.ok(one && two);
  t.same(more, []);
  const ready = async () => (await fetch(`${service.url}/health/ready`).catch(() => null))?.status === 200;

  process.kill(one, 'SIGKILL');
  await eventually('it is gone', async () => running([one]).length === 0);
  t.ok(await ready(), 'the other one answers');
  await eventually('it is replaced', async () => servingBelow(service.pid).length === 2);
  process.kill(two, 'SIGKILL');
  await eventually('its replacement answers', ready);
  await eventually('it is replaced', async () => servingBelow(service.pid).length === 2);
  t.same(running([one, two]), [], 'both were replaced');

  const outcome = await service.stop('SIGINT', 'group');
  t.equal(outcome.ended, 0, 'Ctrl-C ends them all');
  t.equal(outcome.stderr, '');
  t.same(servingBelow(service.pid), []);
  t.same(postgresOf(DATA_DIR), []);
});

t.test('when the first of several processes is killed, the others end', async (t) => {
  const service = await startProcess(t, { ...(await databaseEnvironment(t)), WORKERS: '2' });
  const serving = servingBelow(service.pid);
  t.equal(serving.length, 2);
  await service.stop('SIGKILL');
  await eventually('they end', async () => running(serving).length === 0);
});

async function demoClient(connectionString: string) {
  const database = openDatabase({ connectionString }, { max: 1 });
  const client = await createClient(database, { account: 'Demo', scopes: [...allScopes], locationIds: null });
  await database.destroy();
  return client;
}
