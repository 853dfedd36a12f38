import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import type { Api } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { makeLocation, makeMenu } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const times = { stallMs: 800, wholeMs: 3_000 };
const { url, app } = await startTestService(t, { readingTime: times });
const request = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n';
// More than the kernel keeps for a reader who does not read.
const manyTimes = 60;

async function open(text: string, to = url): Promise<Socket> {
  const { hostname, port } = new URL(to);
  const socket = connect({ host: hostname, port: Number(port) });
  t.teardown(() => socket.destroy());
  socket.on('error', () => {});
  socket.pause();
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

const connections = () =>
  new Promise<number>((resolve, reject) =>
    app.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );

/** Reads so many equal responses, and gives the first line of the first. */
async function responses(socket: Socket, count: number): Promise<string> {
  let head = '';
  let whole = Number.POSITIVE_INFINITY;
  let received = 0;
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    received += chunk.length;
    if (whole === Number.POSITIVE_INFINITY) {
      head += chunk.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end >= 0) whole = (end + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1])) * count;
    }
    if (received >= whole) return head.slice(0, head.indexOf('\r\n'));
  }
  throw new Error(`the connection ended after ${received} bytes`);
}

t.test('a connection that reads nothing is cut, one that is idle is not', async (t) => {
  const before = await connections();
  const idle = await open(request);
  t.match(await responses(idle, 1), /^HTTP\/1.1 200/);
  const started = performance.now();
  await open(request.repeat(manyTimes));
  await eventually('both are connected', async () => (await connections()) === before + 2);
  await eventually('one is cut', async () => (await connections()) === before + 1);
  t.ok(performance.now() - started >= times.stallMs, 'not before its time');
  idle.write(request);
  t.match(await responses(idle, 1), /^HTTP\/1.1 200/, 'the other was not in debt');
});

t.test('a connection that reads a little now and then is cut when its time is up', async (t) => {
  const before = await connections();
  const started = performance.now();
  const socket = await open(request.repeat(5 * manyTimes));
  await eventually('it is connected', async () => (await connections()) === before + 1);
  let cut = false;
  const reading = (async () => {
    while (!cut) {
      socket.read(Math.min(socket.readableLength, 65_536));
      await pause(5);
    }
  })();
  await eventually('it is cut', async () => (await connections()) === before);
  const took = performance.now() - started;
  t.ok(took >= times.wholeMs, `after ${Math.round(took)} ms`);
  cut = true;
  await reading;
});

t.test('a connection that pauses for less than that gets everything', async (t) => {
  const socket = await open(request.repeat(manyTimes));
  await pause(times.stallMs / 2);
  t.match(await responses(socket, manyTimes), /^HTTP\/1.1 200/);
});

/** A menu whose representations have 4 MB, and what is sent to read one of them. */
async function largeMenu(api: Api) {
  const { menu_id } = await makeMenu(api, (await makeLocation(api)).location_id);
  // Three bytes each.
  const description = '寿'.repeat(1_333);
  const items = Array.from({ length: 1_000 }, (_, n) => ({
    external_id: `I${n}`,
    name: `Nigiri ${n}`,
    description,
    price: 1,
  }));
  const document = { data: { categories: [{ external_id: 'C', name: 'C', items }] } };
  t.equal((await api.put(`/menus/${menu_id}/content`, document)).status, 200);
  const path = `/menus/${menu_id}`;
  const [category] = (await api.get(path)).body.data.categories;
  const authorization = `Authorization: Bearer ${await api.token()}`;
  return {
    path,
    toggle: `${path}/items/${category.items[0].item_id}/toggle`,
    read: (path: string) => `GET /api/v1${path} HTTP/1.1\r\nHost: x\r\n${authorization}\r\n\r\n`,
  };
}

const refusal = {
  status: 429,
  headers: { 'retry-after': '1' },
  body: { code: 'concurrency_limited' },
};

t.test('a client that leaves large responses unread makes no more of them', async (t) => {
  const { url, api, client } = await startTestService(t);
  const { path, read } = await largeMenu(api);
  const page = `${path}/items?limit=1000`;
  const sockets: Socket[] = [];
  const refused = await eventually('it is refused', async () => {
    sockets.push(await open(read(page), url));
    const { status, headers, body } = await api.get('/locations');
    return status !== 200 && { status, headers, body };
  });
  t.match(refused, refusal);
  t.ok(sockets.length > 28, `${sockets.length} responses of 4 MB`);
  t.equal((await (await client()).get('/locations')).status, 200, 'another client is served');
  for (const socket of sockets) socket.destroy();
  await eventually('there is room again', async () => (await api.get(page)).status === 200);
});

t.test('large responses that are asked for at once are held to the same bound', async (t) => {
  const { url, api, app } = await startTestService(t);
  const { path, read } = await largeMenu(api);
  const asked: ServerResponse[] = [];
  app.server.on('request', (_request, response) => asked.push(response));
  const sockets = await Promise.all(
    Array.from({ length: 80 }, () => open(read(`${path}/items?limit=1000`), url)),
  );
  await eventually('all have a response', async () => asked.filter((one) => one.headersSent).length === 80);
  const made = asked.filter(({ statusCode }) => statusCode === 200).length;
  t.ok(made > 28 && made < 45, `${made} responses of 4 MB`);
  t.same(new Set(asked.map(({ statusCode }) => statusCode)), new Set([200, 429]));
  for (const socket of sockets) socket.destroy();
  await eventually('there is room again', async () => (await api.get(path)).status === 200);
});

t.test(
  'a menu that many responses have left unread counts once, and each of its versions counts',
  async (t) => {
    const { url, api } = await startTestService(t);
    const { path, toggle, read } = await largeMenu(api);
    const sockets: Socket[] = [];
    for (let readers = 0; readers < 50; readers += 1) {
      sockets.push(await open(read(path), url));
      t.equal((await api.get('/locations')).status, 200);
    }
    let versions = 0;
    const refused = await eventually('it is refused', async () => {
      const { status, headers, body } = await api.post(toggle);
      if (status !== 200) return { status, headers, body };
      versions += 1;
      sockets.push(await open(read(path), url));
      return false;
    });
    t.match(refused, refusal);
    t.ok(versions > 28, `${versions} versions of 4 MB`);
    for (const socket of sockets) socket.destroy();
    await eventually('there is room again', async () => (await api.get(path)).status === 200);
  },
);
