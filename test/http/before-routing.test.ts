import t from 'tap';
import document from '../../generated/openapi.json' with { type: 'json' };
import { checkProblem } from '../support/contract.ts';
import { sendRaw } from '../support/raw.ts';
import { startTestService } from '../support/service.ts';

const { url, api, app } = await startTestService(t);

t.test('a URL that is not percent-encoded UTF-8 gets 400', async (t) => {
  for (const path of [
    '/%zz',
    '/api/v1/menus/%',
    '/api/v1/menus/%ff',
    '/api/v1/menus/%c3%28/items',
    '/docs/%zz',
  ]) {
    const response = await sendRaw(url, `GET ${path} HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\n\r\n`);
    t.match(response, { status: 400, body: { code: 'bad_request', request_id: 'mine' } }, path);
    checkProblem(response);
  }
});

t.test('a URL that is too long gets 414, headers that are too large 431', async (t) => {
  for (const target of [
    `/api/v1/menus?q=${'x'.repeat(12_500)}`,
    `/api/v1/menus/${'1'.repeat(12_500)}`,
    '/'.repeat(12_500),
  ]) {
    const long = await sendRaw(url, `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
    t.match(long, { status: 414, body: { code: 'uri_too_long' } });
    checkProblem(long);
  }

  const large = await sendRaw(url, `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`);
  t.match(large, { status: 431, body: { code: 'headers_too_large' } });
  checkProblem(large);
  const many = Array.from({ length: 1500 }, (_, index) => `X-${index}: xxxxxxxxxx\r\n`).join('');
  t.equal((await sendRaw(url, `GET / HTTP/1.1\r\nHost: x\r\n${many}\r\n`)).status, 431);
});

t.test('a list of ETags has a limit, the same for every operation', async (t) => {
  const { IfMatch, IfNoneMatch } = document.components.parameters;
  for (const [{ name, schema }, method, path] of [
    [IfMatch, 'PUT', '/api/v1/menus/1'],
    [IfMatch, 'POST', '/api/v1/menus/1/toggle'],
    [IfNoneMatch, 'GET', '/api/v1/menus/1'],
  ] as const) {
    const call = (length: number) =>
      sendRaw(url, `${method} ${path} HTTP/1.1\r\nHost: x\r\n${name}: ${'x'.repeat(length)}\r\n\r\n`);
    t.equal((await call(schema.maxLength)).status, 401, 'it is the token that is missing');
    const long = await call(schema.maxLength + 1);
    t.match(long, { status: 431, body: { code: 'headers_too_large' } }, `${method} ${name}`);
    checkProblem(long);
  }
});

const malformed: Record<string, string | Buffer> = {
  'no HTTP at all': 'GARBAGE\r\n\r\n',
  'an unknown method': 'FROB / HTTP/1.1\r\nHost: x\r\n\r\n',
  'an unknown version': 'GET / HTTP/9.9\r\nHost: x\r\n\r\n',
  'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'the greeting of TLS': Buffer.from('16030100050100000100', 'hex'),
  'no Host': 'GET /health/live HTTP/1.1\r\n\r\n',
  'a header without a name': 'GET / HTTP/1.1\r\nHost: x\r\n: x\r\n\r\n',
  'a header with a control character': 'GET / HTTP/1.1\r\nHost: x\r\nX: a\u0000b\r\n\r\n',
  'a length that is no number': 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: abc\r\n\r\n',
  'a negative length': 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n',
  'two lengths': 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
  'a length and chunks':
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
};

t.test('what is not valid HTTP gets 400', async (t) => {
  for (const [what, bytes] of Object.entries(malformed)) {
    const response = await sendRaw(url, bytes);
    t.match(response, { status: 400, body: { code: 'bad_request' } }, what);
    checkProblem(response);
  }
});

t.test('an absolute URL, an unknown expectation and HTTP/1.0 without Host are served', async (t) => {
  for (const head of [
    `GET ${url}/health/live HTTP/1.1\r\nHost: x`,
    'GET /health/live HTTP/1.1\r\nHost: x\r\nExpect: a-miracle',
    'GET /health/live HTTP/1.0',
  ]) {
    t.match(await sendRaw(url, `${head}\r\n\r\n`), { status: 200, body: { status: 'ok' } }, head);
  }
});

t.test('chunks that are broken on the way get 400', async (t) => {
  const head =
    'POST /api/v1/webhooks HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
    `Authorization: Bearer ${await api.token()}\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const response = await sendRaw(url, head, '5\r\n{"url\r\n', 'zz\r\n');
  t.match(response, { status: 400, body: { code: 'bad_request' } });
  checkProblem(response);
});

t.test('a request that does not arrive in time gets 408', async (t) => {
  Object.assign(app.server, { headersTimeout: 100, requestTimeout: 100 });
  const head = 'POST /api/v1/oauth/token HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n';
  for (const part of [head, `${head}Content-Type: application/x-www-form-urlencoded\r\n\r\ngrant`]) {
    const response = await sendRaw(url, part);
    t.match(response, { status: 408, body: { code: 'request_timeout' } });
    checkProblem(response);
  }
});
