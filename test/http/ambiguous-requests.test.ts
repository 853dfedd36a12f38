import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { checkProblem } from '../support/contract.ts';
import { sendRaw } from '../support/raw.ts';
import { makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const { url, api } = await startTestService(t);
const { location, menu, item } = await makeTree(api);
const token = await api.token();
const authorization = `Authorization: Bearer ${token}`;
const itemTag = (await api.get(`/menus/${menu.menu_id}/items/${item.item_id}`)).headers['etag'];
const etag = (await api.get(`/locations/${location.location_id}`)).headers['etag'];
const authority = new URL(url).host;

/** A request with these lines after its first one, and what follows them. */
function request(target: string, lines: string[], body = '', version = '1.1'): string {
  return [`${target} HTTP/${version}`, ...lines, '', body].join('\r\n');
}
const live = (...lines: string[]) => request('GET /health/live', lines);
const create = (lines: string[], body: string, version?: string) =>
  request(
    'POST /api/v1/locations',
    ['Host: x', authorization, 'Content-Type: application/json', ...lines],
    body,
    version,
  );
const toggle = (...lines: string[]) =>
  request(`POST /api/v1/menus/${menu.menu_id}/items/${item.item_id}/toggle`, [
    'Host: x',
    authorization,
    ...lines,
    'Content-Length: 0',
  ]);
const read = (...lines: string[]) =>
  request(`GET /api/v1/locations/${location.location_id}`, ['Host: x', ...lines]);
const empty = 'Content-Length: 0';
const chunked = 'Transfer-Encoding: chunked';
const chunks = '2\r\n{}\r\n0\r\n\r\n';

/** What each gets: 422 is a body `{}` that has arrived whole. */
const requests: Record<string, [bytes: string, status: number]> = {
  'two hosts': [live('Host: x', 'Host: y'), 400],
  'the same host twice': [live('Host: x', 'host: x'), 400],
  'several hosts in one': [live('Host: x, y'), 400],
  'a host with a path': [live('Host: x/y'), 400],
  'a host with user information': [live('Host: a@x'), 400],
  'an empty host': [live('Host:'), 200],
  'an IPv6 host with a port': [live('Host: [::1]:3000'), 200],
  'an absolute target with another host': [request('GET http://other.example/health/live', ['Host: x']), 200],
  'an absolute target with user information': [request('GET http://a@x/health/live', ['Host: x']), 400],
  'a target with a fragment': [request('GET /health/live#/../docs', ['Host: x']), 400],
  'a target that cannot be decoded, and two hosts': [request('GET /%zz', ['Host: x', 'Host: y']), 400],
  'a target that is too long, and two hosts': [
    request(`GET /${'a'.repeat(12_288)}`, ['Host: x', 'Host: y']),
    400,
  ],
  'HTTP/0.9': ['GET /health/live\r\n\r\n', 400],
  'HTTP/2.0 without its frames': [request('GET /health/live', ['Host: x'], '', '2.0'), 400],
  'a token twice': [read(authorization, authorization), 400],
  'two tokens': [read(authorization, 'Authorization: Bearer other'), 400],
  'two media types': [create(['Content-Type: text/csv', 'Content-Length: 2'], '{}'), 400],
  'two idempotency keys': [toggle('Idempotency-Key: a', 'Idempotency-Key: b'), 400],
  'the same idempotency key twice': [toggle('Idempotency-Key: a', 'Idempotency-Key: a'), 400],
  // A list, which may be spread over lines: RFC 9110, section 5.3.
  'If-Match twice, one that matches': [toggle('If-Match: "other"', `If-Match: ${itemTag}`), 200],
  'If-None-Match twice, one that matches': [
    read(authorization, 'If-None-Match: "other"', `If-None-Match: ${etag}`),
    304,
  ],
  'a length': [create(['Content-Length: 2'], '{}'), 422],
  chunks: [create([chunked], chunks), 422],
  'chunks with an extension': [create([chunked], '2;a=b\r\n{}\r\n0\r\n\r\n'), 422],
  'chunks with a trailer': [create([chunked], '2\r\n{}\r\n0\r\nHost: y\r\n\r\n'), 422],
  'a length and chunks': [create(['Content-Length: 2', chunked], chunks), 400],
  'chunks and a length': [create([chunked, 'Content-Length: 2'], chunks), 400],
  'the same length twice': [create(['Content-Length: 2', 'Content-Length: 2'], '{}'), 400],
  'a list of lengths': [create(['Content-Length: 2, 2'], '{}'), 400],
  'a length with a sign': [create(['Content-Length: +2'], '{}'), 400],
  'chunked twice': [create([chunked, chunked], chunks), 400],
  'chunks of another coding': [create(['Transfer-Encoding: gzip, chunked'], chunks), 400],
  'a coding after chunked': [create(['Transfer-Encoding: chunked, gzip'], chunks), 400],
  'a coding that resembles chunked': [create(['Transfer-Encoding: xchunked'], chunks), 400],
  'the coding identity': [create(['Transfer-Encoding: identity'], ''), 400],
  'chunks in HTTP/1.0': [create([chunked], chunks, '1.0'), 400],
  'a chunk whose size has a prefix': [create([chunked], '0x2\r\n{}\r\n0\r\n\r\n'), 400],
  'a chunk whose size overflows': [create([chunked], 'fffffffffffffffff2\r\n{}\r\n0\r\n\r\n'), 400],
  'a chunk that is longer than its size': [create([chunked], '2\r\n{}X\r\n0\r\n\r\n'), 400],
  'a chunk that ends in a bare line feed': [create([chunked], '2\n{}\r\n0\r\n\r\n'), 400],
  'a folded header': [live('Host: x', 'X-A: one', ' two'), 400],
  'a header folded with a tab': [live('Host: x', 'X-A: one', '\ttwo'), 400],
  'a folded first header': [live(' X-A: one', 'Host: x'), 400],
  'a space before the colon': [live('Host : x'), 400],
  'a bare carriage return': [live('Host: x', 'X-A: one\rX-B: two'), 400],
  'bare line feeds': [live('Host: x').replaceAll('\r\n', '\n'), 400],
  'one bare line feed': [live('Host: x\nX-A: one'), 400],
  'a tab in the request line': [live('Host: x').replace('GET ', 'GET\t'), 400],
  'a header named almost like the length': [
    request('GET /health/live', ['Host: x', 'Content_Length: 2'], ''),
    200,
  ],
  'an empty line before the request': [`\r\n${live('Host: x')}`, 200],
  'an upgrade': [live('Host: x', 'Connection: Upgrade', 'Upgrade: h2c', empty), 200],
};

t.test('a request that two readers could understand differently is refused', async (t) => {
  for (const [what, [bytes, status]] of Object.entries(requests)) {
    const response = await sendRaw(url, bytes);
    t.equal(response.status, status, what);
    if (status < 400) continue;
    checkProblem(response);
    if (status === 400) t.equal(response.body.code, 'bad_request', what);
  }
});

t.test('what follows a refused request is not read as another one', async (t) => {
  t.strictSame(await statuses(live('Host: x') + live('Host: x', 'Connection: close')), [200, 200]);
  for (const framing of [
    ['Content-Length: 2', chunked],
    ['Transfer-Encoding: gzip, chunked'],
    ['Content-Length: 2', 'Content-Length: 3'],
    ['Content-Length: 0', 'Host: y'],
  ]) {
    const hidden = live('Host: x', 'Connection: close');
    t.strictSame(await statuses(create(framing, `0\r\n\r\n${hidden}`)), [400], framing.join());
  }
  const path = `/menus/${menu.menu_id}/items/${item.item_id}`;
  const before = (await api.get(path)).body.data;
  const refused: [line: string, body: string][] = [
    ['Host: y', ''],
    ['Transfer-Encoding: gzip, chunked', '0\r\n\r\n'],
  ];
  for (const target of ['GET /health/live', 'GET /%zz', `GET /${'a'.repeat(12_288)}`])
    for (const [line, body] of refused) {
      const bytes = `${request(target, ['Host: x', line], body)}${toggle()}`;
      t.strictSame(await statuses(bytes), [400], `${target.slice(0, 20)}, ${line}`);
    }
  t.strictSame((await api.get(path)).body.data, before, 'nor performed');
});

t.test('an absolute target names the host, and not the header', async (t) => {
  const metadata = '/.well-known/oauth-authorization-server';
  for (const target of ['http://menus.example', 'HTTP://menus.example:80']) {
    const { body } = await sendRaw(url, request(`GET ${target}${metadata}`, [`Host: ${authority}`]));
    t.equal(body.issuer, 'http://menus.example');
  }
});

/** The statuses of all responses until the service closes the connection. */
async function statuses(bytes: string): Promise<number[]> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.write(bytes);
  const received = await text(socket);
  return [...received.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));
}
