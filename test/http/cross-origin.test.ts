import t from 'tap';
import document from '../../generated/openapi.json' with { type: 'json' };
import { allowedHeaders, exposedHeaders } from '../../src/http/cross-origin.ts';
import { exampleCalls, pathOf, unknownIds } from '../contract/example-calls.ts';
import { send } from '../support/api.ts';
import { sendRaw } from '../support/raw.ts';
import { startTestService } from '../support/service.ts';

const origin = 'https://orders.example.com';
const corsOrigins = [origin, 'http://localhost:5173'];

function preflight(url: string, path: string, method: string, from = origin) {
  return send(url, 'OPTIONS', path, {
    origin: from,
    'access-control-request-method': method,
    'access-control-request-headers': 'authorization,content-type',
  });
}

t.test('without CORS_ORIGINS no response says anything to pages of other origins', async (t) => {
  const { url, api } = await startTestService(t);
  const { headers } = await api.get('/menus', { headers: { origin } });
  t.notOk(Object.keys(headers).some((name) => name.startsWith('access-control-')));
  t.equal(headers['vary'], 'Accept-Encoding');
  t.equal((await preflight(url, '/api/v1/menus', 'GET')).status, 405);
});

t.test(
  'the preflight of every operation is accepted without a token, and allows what the contract has',
  async (t) => {
    const { url } = await startTestService(t, { corsOrigins });
    for (const call of exampleCalls) {
      const { status, headers, text } = await preflight(
        url,
        `/api/v1${pathOf(call, unknownIds)}`,
        call.method,
      );
      t.equal(status, 204, call.id);
      t.equal(text, '');
      t.equal(headers['access-control-allow-origin'], origin);
      t.match(headers['vary'], /\bOrigin\b/);
      t.ok(list(headers['access-control-allow-methods']).includes(call.method.toLowerCase()), call.id);
      const allowed = list(headers['access-control-allow-headers']);
      for (const name of [...call.headers, 'authorization', 'content-type']) {
        t.ok(allowed.includes(name), `${call.id} may be sent ${name}`);
      }
      t.equal(headers['access-control-max-age'], '7200');
      t.equal(headers['access-control-allow-credentials'], undefined);
      t.match(headers['x-request-id'], /^req_/);
    }
    t.equal(allowedHeaders.length, new Set(allowedHeaders).size);
  },
);

t.test('a page can read every header that the contract has', async (t) => {
  const { api } = await startTestService(t, { corsOrigins });
  const { status, headers } = await api.get('/menus', { headers: { origin } });
  t.equal(status, 200);
  t.equal(headers['access-control-allow-origin'], origin);
  t.equal(headers['access-control-allow-credentials'], undefined);
  const exposed = list(headers['access-control-expose-headers']);
  // https://fetch.spec.whatwg.org/#cors-safelisted-response-header-name, and Vary, which is for caches.
  const readable = ['cache-control', 'content-type', 'pragma', 'vary'];
  const names = JSON.stringify(document.paths).matchAll(/"([\w-]+)":{"\$ref":"#\/components\/headers\//g);
  const promised = new Set([...names].map(([, name = '']) => name.toLowerCase()));
  t.ok(promised.size > 8);
  for (const name of promised) t.ok(readable.includes(name) || exposed.includes(name), name);
  t.equal(exposed.length, exposedHeaders.length);
});

t.test('pages of another origin are allowed nothing', async (t) => {
  const { url, api } = await startTestService(t, { corsOrigins });
  for (const other of [
    'https://evil.example.com',
    'https://orders.example.com.evil.com',
    'null',
    'http://orders.example.com',
  ]) {
    const { headers } = await api.get('/menus', { headers: { origin: other } });
    t.equal(headers['access-control-allow-origin'], undefined, other);
    t.equal(headers['vary'], 'Origin, Accept-Encoding', 'a cache must not give it to others');
    const asked = await preflight(url, '/api/v1/menus', 'GET', other);
    t.equal(asked.headers['access-control-allow-origin'], undefined, other);
  }
  t.equal((await api.get('/menus')).headers['vary'], 'Origin, Accept-Encoding');
});

t.test('errors can be read by a page too', async (t) => {
  const { url, api } = await startTestService(t, { corsOrigins, rateLimitPerMinute: 8 });
  const from = { origin };
  const { menu_id } = (await api.get('/menus?limit=1')).body.data[0];
  const item = { 'content-type': 'application/json', ...from };
  const responses = {
    401: await api.get('/menus', { token: null, headers: from }),
    404: await api.get('/menus/999999999', { headers: from }),
    405: await api.call('PATCH', '/menus', { headers: from }),
    406: await api.get(`/menus/${menu_id}/content`, { headers: { accept: 'image/png', ...from } }),
    413: await api.post('/menus', undefined, { headers: item, body: Buffer.alloc(2_000_000, ' ') }),
    415: await api.post('/menus', undefined, {
      headers: { ...from, 'content-type': 'text/plain' },
      body: 'x',
    }),
    422: await api.post('/menus', {}, { headers: from }),
    414: await sendRaw(url, `GET /${'x'.repeat(12_500)} HTTP/1.1\r\nHost: x\r\nOrigin: ${origin}\r\n\r\n`),
    400: await sendRaw(url, `GET /%zz HTTP/1.1\r\nHost: x\r\nOrigin: ${origin}\r\n\r\n`),
    431: await sendRaw(
      url,
      `GET / HTTP/1.1\r\nHost: x\r\nOrigin: ${origin}\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    ),
  };
  for (const [status, response] of Object.entries(responses)) {
    t.equal(response.status, Number(status));
    t.equal(response.headers['access-control-allow-origin'], origin, status);
    t.match(response.headers['access-control-expose-headers'], 'Retry-After', status);
    t.match(response.headers['vary'], /^Origin\b/, status);
  }
  const unreadable = await sendRaw(url, `FROB / HTTP/1.1\r\nHost: x\r\nOrigin: ${origin}\r\n\r\n`);
  t.match(unreadable, { status: 400, headers: { 'access-control-allow-origin': origin } });
  const evil = await sendRaw(url, 'FROB / HTTP/1.1\r\nHost: x\r\nOrigin: https://evil.example.com\r\n\r\n');
  t.equal(evil.headers['access-control-allow-origin'], undefined);

  let limited = await api.get('/menus', { headers: from });
  while (limited.status !== 429) limited = await api.get('/menus', { headers: from });
  t.equal(limited.headers['access-control-allow-origin'], origin);
});

t.test('while the database is unavailable a page learns that too', async (t) => {
  const service = await startTestService(t, { corsOrigins });
  await service.api.token();
  await service.database.destroy();
  const { status, headers } = await send(service.url, 'GET', '/health/ready', { origin });
  t.equal(status, 503);
  t.equal(headers['access-control-allow-origin'], origin);
  t.equal(headers['retry-after'], '1');
});

t.test('an OPTIONS request that is not a preflight is refused as before', async (t) => {
  const { url, api } = await startTestService(t, { corsOrigins });
  const refused = await send(url, 'OPTIONS', '/api/v1/menus', {});
  t.match(refused, { status: 405, headers: { allow: 'GET, HEAD, POST' } });
  t.equal((await send(url, 'OPTIONS', '/nowhere', {})).status, 404);
  t.equal((await send(url, 'OPTIONS', '/nowhere', { origin })).status, 404);
  t.equal((await api.get('/nowhere')).status, 404);
  t.equal((await api.call('PATCH', '/menus')).headers['allow'], 'GET, HEAD, POST');
});

t.test('a response that depends on Accept as well says both', async (t) => {
  const { api } = await startTestService(t, { corsOrigins });
  const { menu_id } = (await api.get('/menus?limit=1')).body.data[0];
  const { status, headers } = await api.get(`/menus/${menu_id}/content`, { headers: { origin } });
  t.equal(status, 200);
  t.equal(headers['vary'], 'Origin, Accept, Accept-Encoding');
});

function list(header: unknown): string[] {
  return String(header).toLowerCase().split(', ');
}
