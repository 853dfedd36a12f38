import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { createClient } from '../../src/accounts/client.ts';
import { allScopes } from '../../src/accounts/scopes.ts';
import { openDatabase } from '../../src/db/database.ts';
import { createApi } from '../support/api.ts';
import {
  databaseEnvironment,
  dataDirectory,
  freePort,
  postgresOf,
  running,
  servingBelow,
  startProcess,
  until,
} from '../support/process.ts';

t.setTimeout(120_000);

t.test('ROLE=api serves and sends nothing; ROLE=worker sends and serves nothing', async (t) => {
  const receiver = await startReceiver(t);
  const env = { ...(await databaseEnvironment(t)), WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' };
  const api = await startProcess(t, { ...env, ROLE: 'api' });
  const client = createApi(api.url, await demoClient(env.DATABASE_URL));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  t.equal((await client.post('/webhooks', { url })).status, 201);
  const menus = await client.get('/menus?limit=1');
  const items = await client.get(`/menus/${menus.body.data[0].menu_id}/items?limit=1`);
  const { menu_id, item_id } = items.body.data[0];
  const delivered = once(receiver, 'request');
  const toggled = await client.post(`/menus/${menu_id}/items/${item_id}/toggle`);
  t.equal(toggled.status, 200);
  // Long enough for a worker to have sent it, were there one in this process.
  t.equal(await Promise.race([delivered, pause(500, 'nothing')]), 'nothing');

  const worker = await startProcess(t, { ...env, ROLE: 'worker' });
  t.equal(worker.url, '', 'it names no address');
  const [request] = await delivered;
  t.equal(request.method, 'POST');
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
  await until(() => running([one]).length === 0);
  t.ok(await ready(), 'the other one answers');
  await until(() => servingBelow(service.pid).length === 2);
  process.kill(two, 'SIGKILL');
  await until(ready);
  await until(() => servingBelow(service.pid).length === 2);
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
  await until(() => running(serving).length === 0);
});

async function startReceiver(t: Test): Promise<Server> {
  const receiver = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  t.teardown(() => receiver.close());
  return receiver;
}

async function demoClient(connectionString: string) {
  const database = openDatabase({ connectionString }, { max: 1 });
  const client = await createClient(database, { account: 'Demo', scopes: [...allScopes], locationIds: null });
  await database.destroy();
  return client;
}
