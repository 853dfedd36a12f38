import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import t, { type Test } from 'tap';
import { readConfig } from '../../src/process/config.ts';
import { blocksRunBy } from '../docs/blocks.ts';
import { checkAgainstContract, checkProblem } from '../support/contract.ts';
import { type DatabaseProxy, startBehindProxy } from '../support/database-proxy.ts';
import { eventually } from '../support/eventually.ts';
import { notInstalled, type ProxyName, type RunningProxy, startProxy } from '../support/proxies.ts';
import { startTestService, type TestService } from '../support/service.ts';

const blocks = blocksRunBy(import.meta.url);
const textOf = (kind: string) => blocks.find((block) => block.kind === kind)?.text ?? '';
const form = { 'content-type': 'application/x-www-form-urlencoded' };
// Addresses of this machine, of which the first is the proxy's.
const [proxyAddress, one, other] = ['127.0.0.1', '127.0.0.2', '127.0.0.3'] as const;

t.test('the line of docs/operations.md that names the proxy is valid', async (t) => {
  const line = /^\$ export (.*)$/.exec(textOf('console'))?.[1] ?? '';
  const { host, trustedProxies } = readConfig(
    Object.fromEntries(line.split(' ').map((part) => part.split('='))),
  );
  t.same([host, trustedProxies], ['10.0.0.11', ['10.0.0.10/32']]);
  t.equal(blocks.length, 3);
});

for (const name of ['haproxy', 'nginx'] as const) {
  t.test(`behind ${name}, configured as in docs/operations.md`, { skip: notInstalled(name) }, async (t) => {
    await t.test('calls work over TLS, and links in responses are paths', async (t) => {
      const { services, proxy } = await start(t, name);
      const headers = await bearer(services[0]);
      const body = JSON.stringify({
        name: 'Behind a proxy',
        address: { line1: '1 High Street', city: 'York', postal_code: 'YO1 8RL', country: 'GB' },
        timezone: 'Europe/London',
        currency: 'GBP',
      });
      const created = await proxy.send(one, '/api/v1/locations', {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
      });
      t.equal(created.status, 201, created.text);
      t.match(created.headers['location'], /^\/api\/v1\/locations\/\d+$/);
      t.equal((await proxy.send(one, String(created.headers['location']), { headers })).status, 200);
      const list = await proxy.send(one, '/api/v1/locations?limit=1', { headers });
      t.match(list.headers['link'], /^<\/api\/v1\/locations\?/);
      t.equal((await proxy.send(one, '/docs/')).status, 200);
      const ids = Array.from({ length: 200 }, () => `external_id=${randomUUID()}`);
      t.equal((await proxy.send(one, `/api/v1/items?${ids.join('&')}`, { headers })).status, 200);
    });

    await t.test('nothing leads to metrics or health checks', async (t) => {
      const { proxy } = await start(t, name);
      for (const path of [
        '/metrics',
        '/%6detrics',
        '/api/v1/../../metrics',
        '/api/v1/..%2f..%2fmetrics',
        '/health/live',
      ]) {
        const { status, text } = await proxy.send(one, path);
        t.equal(status, 404, path);
        t.notMatch(text, 'menus_');
      }
    });

    await t.test(
      'wrong credentials are counted by the address of the caller, not of the proxy',
      async (t) => {
        const { services, proxy } = await start(t, name, { alone: true });
        for (let sent = 0; sent < 30; sent++) t.equal(await ask(proxy, one, 'client_unknown:wrong'), 401);
        t.equal(await ask(proxy, one, 'client_unknown:wrong'), 429);
        const invented = { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9' };
        t.equal(await ask(proxy, one, 'client_unknown:wrong', invented), 429, 'whatever it invents');
        t.equal(await ask(proxy, other, 'client_other:wrong'), 401, 'others are not touched');
        const { client_id, client_secret } = services[0].api.credentials;
        t.equal(await ask(proxy, one, `${client_id}:${client_secret}`), 200, 'nor is who has the secret');

        const garbage = () => proxy.send(one, '/api/v1/menus', { headers: { authorization: 'Bearer x' } });
        for (let sent = 0; sent < 30; sent++) t.equal((await garbage()).status, 401);
        t.equal((await garbage()).status, 429);
        t.equal((await proxy.send(one, '/api/v1/menus', { headers: await bearer(services[0]) })).status, 200);
      },
    );

    await t.test('connections to the service are reused, for one caller and the next', async (t) => {
      const { services, proxy } = await start(t, name);
      const headers = await bearer(services[0]);
      let opened = 0;
      for (const { app } of services) app.server.on('connection', () => opened++);
      for (let sent = 0; sent < 40; sent++) {
        const { status } = await proxy.send(sent % 2 ? one : other, '/api/v1/menus?limit=1', { headers });
        t.equal(status, 200);
      }
      // The health checks of haproxy have connections of their own.
      t.ok(opened < 20, `${opened} connections`);
    });

    await t.test('a request that is cut off changes nothing, not even for the next one', async (t) => {
      const { services, proxy } = await start(t, name);
      const headers = await bearer(services[0]);
      for (let cut = 0; cut < 5; cut++) {
        const socket = await proxy.open(one);
        socket.write(
          `POST /api/v1/locations HTTP/1.1\r\nHost: x\r\nAuthorization: ${headers.authorization}\r\n` +
            'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"name":"cut',
        );
        socket.end();
        await once(socket, 'close');
      }
      for (let sent = 0; sent < 10; sent++) {
        const { status, text } = await proxy.send(one, '/api/v1/locations?limit=100', { headers });
        t.equal(status, 200);
        t.notMatch(text, '"cut');
      }
    });

    await t.test('a service without its database gets no calls that another can serve', async (t) => {
      const { services, proxy, wayToDatabase } = await start(t, name);
      const headers = await bearer(services[1]);
      await wayToDatabase.cut();
      await eventually('calls go to the other service', async () => {
        for (let sent = 0; sent < 20; sent++) {
          const { status } = await proxy.send(one, '/api/v1/menus?limit=1', { headers });
          if (status !== 200) return false;
        }
        return true;
      });
      t.equal(await ask(proxy, one, `${services[0].api.credentials.client_id}:wrong`), 401);
    });
  });
}

t.test(
  'when no service responds, haproxy does as the contract says',
  { skip: notInstalled('haproxy') },
  async (t) => {
    const { services, proxy } = await start(t, 'haproxy');
    const path = '/api/v1/menus';
    const headers = { ...(await bearer(services[0])), 'x-request-id': 'a-request' };
    for (const { app } of services) await app.close();
    for (const id of ['a-request', '"}', undefined]) {
      const { 'x-request-id': _, ...others } = headers;
      const response = await proxy.send(one, path, {
        headers: id ? { ...others, 'x-request-id': id } : others,
      });
      const parsed = { ...response, body: JSON.parse(response.text) };
      checkAgainstContract('GET', path, parsed);
      checkProblem(parsed);
      t.equal(response.status, 503);
      t.equal(response.headers['retry-after'], '1');
      t.match(parsed.body.request_id, id === 'a-request' ? id : /^req_[0-9a-f-]{36}$/);
    }
  },
);

/** Two services on one database behind the proxy, which count apart; `alone`: the proxy knows only the first. */
async function start(
  t: Test,
  name: ProxyName,
  { alone = false } = {},
): Promise<{ services: [TestService, TestService]; proxy: RunningProxy; wayToDatabase: DatabaseProxy }> {
  const trustedProxies = [`${proxyAddress}/32`];
  const { proxy: wayToDatabase, ...first } = await startBehindProxy(t, { trustedProxies });
  const second = await startTestService(t, { trustedProxies, connection: first.connection });
  const proxy = await startProxy(t, name, textOf(name), [first.url, alone ? first.url : second.url]);
  return { services: [first, second], proxy, wayToDatabase };
}

async function bearer({ api }: TestService): Promise<{ authorization: string }> {
  return { authorization: `Bearer ${await api.token()}` };
}

/** The status of a request for a token with these credentials, `id:secret`. */
async function ask(proxy: RunningProxy, from: string, credentials: string, headers = {}): Promise<number> {
  const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  const { status } = await proxy.send(from, '/api/v1/oauth/token', {
    method: 'POST',
    headers: { ...form, authorization, ...headers },
    body: 'grant_type=client_credentials',
  });
  return status;
}
