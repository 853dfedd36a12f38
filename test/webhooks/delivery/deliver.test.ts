import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createRawServer, type Server, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { Webhook } from 'standardwebhooks';
import t, { type Test } from 'tap';
import { type AttemptResult, createSender } from '../../../src/webhooks/delivery/deliver.ts';
import { createDestination } from '../../../src/webhooks/delivery/destination.ts';
import type { Lookup } from '../../../src/webhooks/delivery/names.ts';
import { newSecret } from '../../../src/webhooks/delivery/signature.ts';
import { selfSigned } from '../../support/certificate.ts';

const secrets = [newSecret(), newSecret()];
const body = '{"type":"item.toggled","data":{"name":"Crème brûlée 🍮"}}';
const soonMs = 150;

t.test('an event is posted, and both its signatures verify over the received bytes', async (t) => {
  const { url, requests } = await receiver(t, (_request, response) => response.writeHead(204).end());
  const result = await sender(t)(`${url}/hook?shop=1`);
  t.match(result, { ok: true, status: 204, error: null, responseExcerpt: null, gone: false });
  t.ok(Number.isInteger(result.durationMs) && result.durationMs >= 0);

  const [request] = requests;
  t.equal(requests.length, 1);
  t.match(request, { method: 'POST', path: '/hook?shop=1', body });
  t.match(request?.headers, {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'menu-management-service/0.1.0',
    'webhook-id': 'evt_1',
    'webhook-timestamp': /^\d{10}$/,
  });
  t.ok(Math.abs(Number(request?.headers['webhook-timestamp']) - Date.now() / 1000) < 5);
  for (const secret of secrets) {
    t.same(new Webhook(secret).verify(request?.body ?? '', request?.headers as never), JSON.parse(body));
  }
});

t.test('the status decides: 2xx succeeds, redirects are not followed, 410 is gone', async (t) => {
  const { url, requests } = await receiver(t, (request, response) => {
    response.writeHead(Number(request.url?.slice(1)), { location: '/200', 'content-type': 'text/plain' });
    response.end(`answer ${request.url}`);
  });
  const send = sender(t);
  const redirected = 'redirect not followed';
  for (const [status, ok, error] of [
    [200, true, null],
    [201, true, null],
    [299, true, null],
    [301, false, redirected],
    [302, false, redirected],
    [303, false, redirected],
    [307, false, redirected],
    [308, false, redirected],
    [400, false, null],
    [404, false, null],
    [410, false, null],
    [429, false, null],
    [500, false, null],
    [503, false, null],
  ] as const) {
    const responseExcerpt = `answer /${status}`;
    t.match(await send(`${url}/${status}`), { ok, status, error, responseExcerpt, gone: status === 410 });
  }
  t.equal(requests.length, 14, 'one request each');
});

t.test('Retry-After is read from 429 and 503, in both forms, and from nothing else', async (t) => {
  const inTwoMinutes = new Date(Date.now() + 120_000).toUTCString();
  const { url } = await receiver(t, (request, response) => {
    const [, status, value] = decodeURIComponent(request.url ?? '').split('/');
    response.writeHead(Number(status), { 'retry-after': value }).end();
  });
  const send = sender(t);
  const asked = async (status: number, value: string) =>
    (await send(`${url}/${status}/${encodeURIComponent(value)}`)).retryAfterMs;
  t.equal(await asked(429, '90'), 90_000);
  t.equal(await asked(503, '90'), 90_000);
  const waitMs = (await asked(429, inTwoMinutes)) ?? 0;
  t.ok(waitMs > 110_000 && waitMs <= 120_000);
  for (const status of [200, 302, 410, 500]) t.equal(await asked(status, '90'), undefined);
  t.equal(await asked(429, 'later'), undefined);
  t.notOk('retryAfterMs' in (await send(`${url}/429/later`)));
});

t.test('the excerpt is the first kilobyte as valid text without NUL', async (t) => {
  const bodies: Record<string, Buffer> = {
    long: Buffer.from('x'.repeat(5000)),
    cut: Buffer.from(`${'x'.repeat(1022)}🍮🍮`),
    nul: Buffer.from('a\0b\0'),
    binary: Buffer.from([0xff, 0xfe, 0x00, 0x41, 0xed, 0xa0, 0x80]),
    empty: Buffer.alloc(0),
  };
  const { url } = await receiver(t, (request, response) => response.end(bodies[request.url?.slice(1) ?? '']));
  const send = sender(t);
  const excerpt = async (name: string) => (await send(`${url}/${name}`)).responseExcerpt;
  t.equal(await excerpt('long'), 'x'.repeat(1024));
  t.equal(await excerpt('cut'), 'x'.repeat(1022));
  t.equal(await excerpt('nul'), 'ab');
  t.equal(await excerpt('binary'), '\ufffd\ufffdA\ufffd\ufffd\ufffd');
  t.equal(await excerpt('empty'), null);
});

t.test('a receiver that never responds ends in a timeout, and its connection is closed', async (t) => {
  const { port, sockets } = await rawReceiver(t, () => {});
  const result = await sender(t, { timeoutMs: soonMs })(`http://127.0.0.1:${port}/`);
  t.match(result, { ok: false, status: null, error: 'timeout' });
  t.ok(result.durationMs >= soonMs - 5 && result.durationMs < 2_000);
  await allClosed(sockets);
});

t.test('a receiver that responds drop by drop ends in a timeout, wherever it is slow', async (t) => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n';
  for (const [start, drop, status] of [
    ['H', '', null],
    ['HTTP/1.1 200 ', 'O', null],
    [head, 'x-more: 1\r\n', null],
    ['', 'HTTP/1.1 103 Early Hints\r\n\r\n', null],
    [`${head}\r\n`, 'x', 200],
    [`${head}content-length: 100000\r\n\r\n`, 'x', 200],
    [`${head}transfer-encoding: chunked\r\n\r\n`, '1\r\nx\r\n', 200],
    [`${head}transfer-encoding: chunked\r\n\r\n1;`, 'y', 200],
    [`${head}transfer-encoding: chunked\r\n\r\n0\r\n`, 'x-more: 1\r\n', 200],
  ] as const) {
    const { port, sockets } = await rawReceiver(t, (socket) => {
      socket.write(start);
      const dripping = setInterval(() => socket.write(drop), 10);
      socket.on('close', () => clearInterval(dripping));
    });
    const result = await sender(t, { timeoutMs: soonMs })(`http://127.0.0.1:${port}/`);
    t.match(result, { ok: false, status, error: 'timeout' }, `${start}${drop}`);
    t.ok(result.durationMs < 2_000);
    await allClosed(sockets);
  }
});

t.test('an endless body is cut off at the limit, and the status counts', async (t) => {
  for (const [status, ok] of [
    [200, true],
    [500, false],
  ] as const) {
    const { port, sockets } = await rawReceiver(t, (socket) => {
      socket.write(`HTTP/1.1 ${status} Fine\r\n\r\n`);
      flood(socket, 'y'.repeat(4096));
    });
    const result = await sender(t)(`http://127.0.0.1:${port}/`);
    t.match(result, { ok, status, error: null, responseExcerpt: 'y'.repeat(1024) });
    await allClosed(sockets);
  }
});

t.test('endless headers are cut off', async (t) => {
  const { port, sockets } = await rawReceiver(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    flood(socket, `x-more: ${'y'.repeat(1000)}\r\n`);
  });
  const result = await sender(t)(`http://127.0.0.1:${port}/`);
  t.match(result, { ok: false, status: null, error: 'response headers too large' });
  await allClosed(sockets);
});

t.test('a response that breaks off, or is not HTTP, is a failure', async (t) => {
  for (const [reply, status, error] of [
    ['', null, 'connection closed early'],
    ['HTTP/1.1 200 OK\r\ncontent-le', null, 'connection closed early'],
    ['HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nfour', 200, 'connection closed early'],
    ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfour', 200, 'connection closed early'],
    [
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
      null,
      'connection closed early',
    ],
    ['SSH-2.0-OpenSSH_9.6\r\n', null, 'response is not HTTP/1.1'],
  ] as const) {
    const { port } = await rawReceiver(t, (socket) => socket.end(reply));
    t.match(await sender(t)(`http://127.0.0.1:${port}/`), { ok: false, status, error }, reply);
  }
});

t.test('an unreachable receiver is described in words', async (t) => {
  const { port, server } = await rawReceiver(t, () => {});
  server.close();
  await once(server, 'close');
  const send = sender(t, { lookup: async () => Promise.reject(new Error('ENOTFOUND secret.internal')) });
  t.match(await send(`http://127.0.0.1:${port}/`), { status: null, error: 'connection refused' });
  t.match(await send('https://secret.internal/'), { status: null, error: 'host name not resolved' });
});

t.test('the guard stands before every attempt', async (t) => {
  const { url, port, requests } = await receiver(t, (_request, response) => response.end());
  const inside: Lookup = async () => [{ address: '127.0.0.1', family: 4 }];
  const send = sender(t, { allowedNetworks: [], lookup: inside });
  for (const target of [url, `https://127.0.0.1:${port}`, `https://hooks.test:${port}`, 'https://[::1]:9/']) {
    t.match(await send(target), { ok: false, status: null, error: 'blocked_address', responseExcerpt: null });
  }
  t.equal(requests.length, 0);
});

t.test('nothing throws, and nothing leaves unsigned', async (t) => {
  const { url, requests } = await receiver(t, (_request, response) => response.end());
  const send = sender(t);
  for (const target of ['', 'nonsense', '//x', 'https://']) {
    t.match(await send(target), { ok: false, status: null, error: 'invalid url' }, target);
  }
  t.match(await send('ftp://127.0.0.1/'), { ok: false, status: null, error: 'invalid request' });
  t.match(await send(url, { secrets: [] }), { ok: false, status: null, error: 'request failed' });
  t.match(await send(url, { eventId: 'evt\r\nx: y' }), { ok: false, status: null, error: 'invalid request' });
  t.equal(requests.length, 0);
});

t.test('an attempt whose connection comes up too late is never sent', async (t) => {
  const { port, requests } = await receiver(t, (_request, response) => response.end());
  const late = Promise.withResolvers<void>();
  const send = sender(t, {
    timeoutMs: soonMs,
    lookup: async () => {
      await late.promise;
      return [{ address: '127.0.0.1', family: 4 }];
    },
  });
  const url = `http://slow-dns.test:${port}/`;
  t.match(await send(url, { eventId: 'evt_late' }), { status: null, error: 'timeout' });
  late.resolve();
  t.match(await send(url, { eventId: 'evt_next' }), { ok: true });
  t.same(
    requests.map((request) => request.headers['webhook-id']),
    ['evt_next'],
  );
});

t.test('connections are kept open and reused', async (t) => {
  const { url, connections } = await receiver(t, (_request, response) => response.end('ok'));
  const send = sender(t);
  for (let n = 0; n < 20; n += 1) t.match(await send(url), { ok: true });
  t.ok(connections() <= 2, String(connections()));
});

t.test('a receiver that hangs costs another one nothing, even on the same host', async (t) => {
  const { url } = await receiver(t, (request, response) => {
    if (request.url !== '/hang') response.end();
  });
  const send = sender(t, { timeoutMs: 2_000 });
  const stuck = Array.from({ length: 200 }, () => send(`${url}/hang`));
  const results = await Promise.all(Array.from({ length: 50 }, () => send(url)));
  t.ok(results.every((result) => result.ok && result.durationMs < 1_000));
  t.ok((await Promise.all(stuck)).every((result) => result.error === 'timeout'));
});

t.test('TLS: an untrusted certificate, another host and plain http are refused by name', async (t) => {
  const trusted = getCACertificates('default');
  t.teardown(() => setDefaultCACertificates(trusted));
  const { port, identity, requests } = await secureReceiver(t, 'hooks.test');
  const plain = await receiver(t, (_request, response) => response.end());
  const send = sender(t, { lookup: async () => [{ address: '127.0.0.1', family: 4 }] });

  t.match(await send(`https://hooks.test:${port}/`), { status: null, error: 'tls: self-signed certificate' });
  t.match(await send(`https://127.0.0.1:${plain.port}/`), { status: null, error: 'tls: handshake failed' });
  setDefaultCACertificates([...trusted, identity.cert]);
  t.match(await send(`https://other.test:${port}/`), {
    status: null,
    error: 'tls: certificate is for another host',
  });
  t.equal(requests.length, 0);
  t.match(await send(`https://hooks.test:${port}/`), { ok: true, status: 200, responseExcerpt: 'received' });
  t.equal(requests.length, 1);
});

interface Received {
  method: string | undefined;
  path: string | undefined;
  headers: IncomingHttpHeaders;
  body: string;
}

function sender(
  t: Test,
  options: { timeoutMs?: number; allowedNetworks?: string[]; lookup?: Lookup } = {},
): (url: string, attempt?: { secrets?: string[]; eventId?: string }) => Promise<AttemptResult> {
  const { timeoutMs = 10_000, allowedNetworks = ['127.0.0.0/8'], lookup } = options;
  const destination = createDestination({ allowedNetworks, ...(lookup === undefined ? {} : { lookup }) });
  t.teardown(() => destination.close());
  const send = createSender({ destination, timeoutMs, userAgent: 'menu-management-service/0.1.0' });
  return async (url, attempt) => {
    const result = await send({ url, secrets, eventId: 'evt_1', body, sentAt: new Date(), ...attempt });
    t.notMatch(result.error, /\d{2}|internal|test/, 'no error names a host, an address or a port');
    return result;
  };
}

async function receiver(t: Test, reply: RequestListener) {
  const requests: Received[] = [];
  const server = createServer(recording(requests, reply));
  const { port, connections } = await listening(t, server);
  return { url: `http://127.0.0.1:${port}`, port, requests, connections };
}

async function secureReceiver(t: Test, hostname: string) {
  const requests: Received[] = [];
  const identity = selfSigned(hostname);
  const server = createSecureServer(
    identity,
    recording(requests, (_request, response) => response.end('received')),
  );
  const { port } = await listening(t, server);
  return { port, identity, requests };
}

/** Answers in its own words once the request has begun to arrive. */
async function rawReceiver(t: Test, reply: (socket: Socket) => void) {
  const server = createRawServer((socket) => {
    socket.on('error', () => {}).once('data', () => reply(socket));
  });
  return { server, ...(await listening(t, server)) };
}

function recording(requests: Received[], reply: RequestListener): RequestListener {
  return async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url: path, headers } = request;
    requests.push({ method, path, headers, body: Buffer.concat(chunks).toString() });
    reply(request, response);
  };
}

async function listening(t: Test, server: Server) {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, sockets, connections: () => sockets.size };
}

async function allClosed(sockets: Set<Socket>): Promise<void> {
  for (const socket of sockets) {
    if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
  }
}

function flood(socket: Socket, text: string): void {
  while (!socket.destroyed && socket.write(text));
  socket.once('drain', () => flood(socket, text));
}
