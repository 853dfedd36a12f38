import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { type ApiResponse, send } from '../support/api.ts';
import { startBehindProxy } from '../support/database-proxy.ts';
import type { TestService } from '../support/service.ts';
import { callWith, exampleCalls, existingRecords, type Ids } from './example-calls.ts';

const unavailable = { status: 503, body: { title: 'Service Unavailable', code: 'service_unavailable' } };

/** Every operation at once, well-formed and authorized; the endpoints of tokens get good credentials. */
async function callEverything({ api, url }: TestService, ids: Ids): Promise<[string, ApiResponse][]> {
  const { client_id, client_secret } = api.credentials;
  const asked = { grant_type: 'client_credentials', token: 'any', client_id, client_secret };
  const body = new URLSearchParams(asked).toString();
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  return Promise.all(
    exampleCalls.map(
      async (call): Promise<[string, ApiResponse]> => [
        call.id,
        call.security.length > 0
          ? await callWith(api, call, ids)
          : await send(url, call.method, `/api/v1${call.path}`, form, body),
      ],
    ),
  );
}

t.test(
  'while the database refuses connections every operation is answered 503, and afterwards as ever',
  async (t) => {
    const service = await startBehindProxy(t);
    const { api, url, proxy } = service;
    const ids = await existingRecords(service);
    await api.token();
    await proxy.cut();

    // At once the caller is still known, so that the operation's own statement fails; later it is its look-up.
    for (const known of [true, false]) {
      if (!known) await pause(1_100);
      for (const [id, response] of await callEverything(service, ids)) {
        t.match(response, unavailable, `${id}, caller ${known ? 'known' : 'forgotten'}`);
        t.ok(Number(response.headers['retry-after']) >= 1, 'and says when to try again');
      }
    }
    t.equal((await send(url, 'GET', '/health/ready', {})).status, 503, 'not ready');
    t.equal((await send(url, 'GET', '/health/live', {})).status, 200, 'but alive');

    await proxy.restore();
    t.equal((await api.get('/menus')).status, 200, 'no restart is needed');
    t.equal((await send(url, 'GET', '/health/ready', {})).status, 200);
  },
);

t.test('a database that accepts connections and says nothing makes no call hang', async (t) => {
  const service = await startBehindProxy(t);
  const { proxy, api } = service;
  const ids = await existingRecords(service);
  proxy.silence();
  const start = performance.now();
  for (const [id, response] of await callEverything(service, ids)) t.match(response, unavailable, id);
  t.ok(performance.now() - start < 5_000, 'answered within five seconds');
  await proxy.restore();
  t.equal((await api.get('/menus')).status, 200);
});

t.test('connections that fall silent make no call hang', async (t) => {
  const service = await startBehindProxy(t);
  const { proxy, api } = service;
  const ids = await existingRecords(service);
  await Promise.all(Array.from({ length: 12 }, () => api.get('/menus')));
  proxy.stall();
  const start = performance.now();
  for (const [id, response] of await callEverything(service, ids)) {
    t.match(response, unavailable, id);
    t.ok(Number(response.headers['retry-after']) >= 1);
  }
  t.ok(performance.now() - start < 5_000, 'answered within five seconds');
  proxy.resume();
  t.equal((await api.get('/menus')).status, 200);
});
