import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { operations } from '../../generated/operations.ts';
import { eventually } from '../support/eventually.ts';
import { makeLocation } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const { url, api, client } = await startTestService(t);
const { location_id } = await makeLocation(api);
const limit = operations.createModifierGroup.bodyLimit ?? 0;

/** Sends a request up to its body, which is to follow in this framing. */
async function begin(framing: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  t.teardown(() => socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  const lines = [
    `POST /api/v1/locations/${location_id}/modifier-groups HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${await api.token()}`,
    'Content-Type: application/json',
    framing,
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  return socket;
}

const responseOf = async (socket: Socket) => String((await once(socket, 'data'))[0]);

t.test('a body in chunks of one byte takes little more memory than its bytes', async (t) => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const used = () => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const socket = await begin('Transfer-Encoding: chunked');
  const before = used();
  const body = JSON.stringify({ name: 'Size' }).padEnd(200_000);
  for (const byte of body) {
    if (!socket.write(`1\r\n${byte}\r\n`)) await once(socket, 'drain');
  }
  // It is read by then, as the server does one after the other.
  await api.get('/locations');
  t.ok(used() - before < 20_000_000, `${used() - before} bytes`);
  socket.write('0\r\n\r\n');
  t.match(await responseOf(socket), /^HTTP\/1.1 201 /);
});

t.test('a client that sends many bodies slowly is held to what memory they may take', async (t) => {
  const sockets: Socket[] = [];
  let refused = '';
  for (let sent = 0; refused === '' && sent < 100; sent += 1) {
    const socket = await begin(`Content-Length: ${limit}`);
    socket.once('data', (bytes) => {
      refused ||= String(bytes);
    });
    socket.write(Buffer.alloc(limit - 1, ' '));
    sockets.push(socket);
    await api.get('/locations');
  }
  t.match(refused, /^HTTP\/1.1 429 .*retry-after: 1\r\n.*concurrency_limited/is);
  t.ok(sockets.length > 32, 'two imports, and as much again');
  const other = await client();
  t.equal(
    (await other.post('/locations', { name: 'B', timezone: 'Asia/Tokyo', currency: 'EUR' })).status,
    201,
  );
  for (const socket of sockets) socket.destroy();
  await eventually('there is room again', async () => {
    const socket = await begin(`Content-Length: ${limit}`);
    socket.write(JSON.stringify({ name: 'Size' }).padEnd(limit));
    return (await responseOf(socket)).startsWith('HTTP/1.1 201 ');
  });
});
