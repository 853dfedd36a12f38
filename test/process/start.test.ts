import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { demoClient } from '../../scripts/launch.ts';
import { type Api, createApi } from '../support/api.ts';
import { dataDirectory, postgresOf, type RunningService, startProcess } from '../support/process.ts';

t.setTimeout(120_000);

// One data directory through its life: each start finds what the one before left.
const DATA_DIR = dataDirectory(t);
const noCurl = spawnSync('curl', ['--version']).error ? 'curl is not installed' : false;
let shown: Greeting;
let toggled: Item;

t.test('the first start greets with a demo client, the docs and three lines to paste', async (t) => {
  const service = await startProcess(t, { DATA_DIR });
  t.comment(`ready after ${Math.round(service.readyAfter)} ms`);
  shown = greetingOf(service);
  t.match(shown.client_id, /^client_[0-9a-f]{24}$/);
  t.match(shown.client_secret, /^mss_[\w-]{43}$/);
  t.equal(shown.lines.length, 3);
  t.equal((await fetch(shown.docs)).status, 200);
  const ready = await service.ready;
  t.match(ready, { role: 'all', address: service.url, pid: service.pid });
  t.equal(ready.demo_client, join(DATA_DIR, 'demo-client.json'), 'a program finds the client in a file');
  const { client_id, client_secret } = shown;
  t.same(demoClient(ready), { client_id, client_secret });
  t.notMatch(JSON.stringify(ready), client_secret);
  toggled = await toggle(apiOf(service));
  const outcome = await service.stop('SIGINT', 'group');
  t.equal(outcome.ended, 0, 'Ctrl-C ends it with status 0');
  t.equal(outcome.stderr, '');
  t.same(postgresOf(DATA_DIR), []);
});

t.test('a second start shows the same client, with the data as it was left', async (t) => {
  const service = await startProcess(t, { DATA_DIR });
  t.comment(`ready again after ${Math.round(service.readyAfter)} ms`);
  const again = greetingOf(service);
  t.equal(again.client_id, shown.client_id);
  t.equal(again.client_secret, shown.client_secret);
  t.same(await firstItem(apiOf(service)), toggled);

  await t.test('the three lines work as they are printed', { skip: noCurl }, async (t) => {
    const input = again.lines.join('\n');
    const { stdout, stderr, status } = spawnSync('bash', ['-e'], { input, encoding: 'utf8' });
    t.equal(stderr, '');
    t.equal(status, 0);
    const [menu, item] = stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).data);
    const items: Item[] = menu.categories.flatMap((category: { items: Item[] }) => category.items);
    t.ok(items.length > 20);
    const before = items.find(({ item_id }) => item_id === item.item_id);
    t.equal(item.is_available, !before?.is_available);
    toggled = item;
  });
  t.equal((await service.stop('SIGHUP')).ended, 0, 'a terminal that closes ends it with status 0');
  t.same(postgresOf(DATA_DIR), []);
});

t.test('kill -9 loses nothing that was acknowledged, and the next start tidies up', async (t) => {
  const killed = await startProcess(t, { DATA_DIR });
  t.same(await firstItem(apiOf(killed)), toggled);
  const item = await toggle(apiOf(killed));
  t.equal((await killed.stop('SIGKILL')).ended, 'SIGKILL');
  const [orphan] = postgresOf(DATA_DIR);
  t.ok(orphan, 'its Postgres is left behind');

  const service = await startProcess(t, { DATA_DIR });
  t.same(await firstItem(apiOf(service)), item);
  t.notOk(postgresOf(DATA_DIR).includes(orphan as number));

  await t.test('a second service on the same data directory ends with one line', async (t) => {
    await t.rejects(startProcess(t, { DATA_DIR }), {
      cause: {
        stdout: /^$/,
        stderr: /^menu-management-service: DATA_DIR \S+ is in use by another running service;[^\n]*\n$/,
        ended: 1,
      },
    });
    t.equal((await fetch(`${service.url}/health/ready`)).status, 200, 'the first one goes on');
  });
  t.equal((await service.stop('SIGINT', 'group')).ended, 0);
  t.same(postgresOf(DATA_DIR), []);
});

t.test('a request in progress gets its response before the service stops', async (t) => {
  const service = await startProcess(t, { DATA_DIR });
  const api = apiOf(service);
  const { menu_id, item_id, name } = await firstItem(api);
  const body = JSON.stringify({ name });
  const request = httpRequest(`${service.url}/api/v1/menus/${menu_id}/items/${item_id}`, {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${await api.token()}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      expect: '100-continue',
    },
  });
  request.flushHeaders();
  await once(request, 'continue');
  const end = service.stop('SIGTERM');
  await refusesConnections(service.url);
  request.end(body);
  const [response] = await once(request, 'response');
  t.equal(response.statusCode, 200);
  response.resume();
  t.equal((await end).ended, 0, 'SIGTERM ends it with status 0');
  t.same(postgresOf(DATA_DIR), []);
});

interface Item {
  menu_id: number;
  item_id: number;
  name: string;
  is_available: boolean;
}

interface Greeting {
  client_id: string;
  client_secret: string;
  docs: string;
  lines: string[];
}

function greetingOf({ greeting }: RunningService): Greeting {
  const after = (label: string) => new RegExp(`^ *${label} +(\\S+)$`, 'm').exec(greeting)?.[1] ?? '';
  return {
    client_id: after('demo client'),
    client_secret: after('its secret'),
    docs: after('docs'),
    lines: greeting.split('\n').filter((line) => line.includes('curl ')),
  };
}

function apiOf(service: RunningService): Api {
  return createApi(service.url, { ...greetingOf(service), account_id: 1 });
}

async function toggle(api: Api): Promise<Item> {
  const { menu_id, item_id } = await firstItem(api);
  return (await api.post(`/menus/${menu_id}/items/${item_id}/toggle`)).body.data;
}

async function firstItem(api: Api): Promise<Item> {
  const menus = await api.get('/menus?limit=1');
  const items = await api.get(`/menus/${menus.body.data[0].menu_id}/items?limit=1`);
  return items.body.data[0];
}

async function refusesConnections(url: string): Promise<void> {
  while (await fetch(url).catch(() => undefined)) await pause(5);
}
