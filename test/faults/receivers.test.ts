import { once } from 'node:events';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { createSender } from '../../src/webhooks/delivery/deliver.ts';
import { createDestination } from '../../src/webhooks/delivery/destination.ts';
import { selfSigned } from '../support/certificate.ts';
import { storedAttempts } from '../support/deliveries.ts';
import { eventually } from '../support/eventually.ts';
import { someItems } from '../support/menus.ts';
import { startReceiver, subscribe } from '../support/receiver.ts';
import { startTestService } from '../support/service.ts';

const destination = createDestination({ allowedNetworks: ['127.0.0.0/8'] });
const send = createSender({ destination, userAgent: 'menu-management-service/test', timeoutMs: 500 });
const { api, database } = await startTestService(t, { worker: { send, retryDelay: () => 50 } });
t.teardown(() => destination.close());

const response = (head: string) => (socket: Socket) =>
  socket.end(`HTTP/1.1 ${head}\r\ncontent-length: 0\r\n\r\n`);
const misbehaviours: [string, (socket: Socket) => void, { status: number | null; error: string | null }][] = [
  ['hangs', () => {}, { status: null, error: 'timeout' }],
  [
    'sends endless headers',
    (socket) => flood(socket, 'HTTP/1.1 200 OK\r\n', `x: ${'y'.repeat(1000)}\r\n`),
    { status: null, error: 'response headers too large' },
  ],
  ['dawdles over an endless body', dawdle, { status: 200, error: 'timeout' }],
  [
    'fails with an endless body',
    (socket) => flood(socket, 'HTTP/1.1 500 No\r\n\r\n', 'y'.repeat(4096)),
    { status: 500, error: null },
  ],
  ['closes early', (socket) => socket.destroy(), { status: null, error: 'connection closed early' }],
  [
    'redirects',
    response('307 Elsewhere\r\nlocation: http://127.0.0.1:1/'),
    { status: 307, error: 'redirect not followed' },
  ],
  ['answers 500', response('500 No'), { status: 500, error: null }],
  ['asks for patience in seconds', response('429 Slow\r\nretry-after: 0'), { status: 429, error: null }],
  [
    'asks for patience until a date',
    response(`503 Slow\r\nretry-after: ${new Date(0).toUTCString()}`),
    { status: 503, error: null },
  ],
];

for (const [name, misbehave, logged] of misbehaviours) {
  t.test(`a receiver that ${name} gets the same request again, and costs another nothing`, async (t) => {
    const bad = await rawReceiver(t, createServer(), misbehave);
    await loggedAndRetried(t, bad, logged);
  });
}

t.test('a receiver with a bad certificate is sent nothing, and costs another nothing', async (t) => {
  const bad = await rawReceiver(t, createSecureServer(selfSigned('hooks.test')), () => {});
  await loggedAndRetried(
    t,
    { ...bad, url: bad.url.replace('http:', 'https:') },
    { status: null, error: 'tls: self-signed certificate' },
  );
  t.same(bad.received, []);
});

async function loggedAndRetried(
  t: Test,
  bad: { url: string; received: string[] },
  logged: { status: number | null; error: string | null },
): Promise<void> {
  const good = await startReceiver(t);
  const { webhook_id } = await subscribe(t, api, bad);
  await subscribe(t, api, good);
  const items = await someItems(api, 3);
  const started = performance.now();
  for (const { path } of items) await api.post(`${path}/toggle`);
  await good.until(items.length);
  t.ok((good.deliveries.at(-1)?.receivedAt ?? 0) - started < 2_000);

  const attempts = await eventually('a second attempt', async () => {
    const rows = await storedAttempts(database, { webhook_id });
    return rows.some(({ number }) => number === 2) && rows;
  });
  for (const { status, error, state } of attempts)
    t.same({ status, error, state }, { ...logged, state: 'pending' });
  const sent = Map.groupBy(bad.received, (request) => /webhook-id: (\S+)/i.exec(request)?.[1]);
  for (const requests of sent.values()) t.equal(new Set(requests.map(bodyOf)).size, 1, 'the same bytes');
}

async function rawReceiver(t: Test, server: Server, misbehave: (socket: Socket) => void) {
  const received: string[] = [];
  const sockets = new Set<Socket>();
  const secure = 'setSecureContext' in server;
  server.on(secure ? 'secureConnection' : 'connection', (socket: Socket) => {
    sockets.add(socket);
    socket
      .on('error', () => {})
      .once('data', (chunk) => {
        received.push(String(chunk));
        misbehave(socket);
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

function bodyOf(request: string): string {
  return request.slice(request.indexOf('\r\n\r\n'));
}

function flood(socket: Socket, start: string, more: string): void {
  socket.write(start);
  const pour = () => {
    while (!socket.destroyed && socket.write(more));
    socket.once('drain', pour);
  };
  pour();
}

function dawdle(socket: Socket): void {
  socket.write('HTTP/1.1 200 OK\r\n\r\n');
  const dripping = setInterval(() => socket.write('x'), 20);
  socket.on('close', () => clearInterval(dripping));
}
