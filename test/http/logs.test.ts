import { connect } from 'node:net';
import { sql } from 'kysely';
import t from 'tap';
import { request } from 'undici';
import { launch } from '../../scripts/launch.ts';
import { send } from '../support/api.ts';
import { checkProblem } from '../support/contract.ts';
import { startDemoProcess } from '../support/demo-process.ts';
import { eventually } from '../support/eventually.ts';
import { environmentOf } from '../support/process.ts';
import { sendRaw } from '../support/raw.ts';
import { cloneDatabase } from '../support/service.ts';

t.test('each response is logged with its request id, and no secret or token ever is', async (t) => {
  const { url, api, database, log, service } = await startDemoProcess(t, { LOG_LEVEL: 'trace' });
  const { client_id, client_secret } = api.credentials;
  const token = await api.token();
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const wrongSecret = 'a-secret-typed-into-the-wrong-field';
  await send(
    url,
    'POST',
    '/api/v1/oauth/token',
    form,
    new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret }).toString(),
  );
  await send(
    url,
    'POST',
    '/api/v1/oauth/token',
    form,
    `client_secret=${wrongSecret}&grant_type=${wrongSecret}`,
  );
  await api.get('/menus', { token: `${token}x` });
  await api.get(`/menus?access_token=${token}`);
  await api.put('/menus/1/items/1', { name: wrongSecret, secret: wrongSecret, price: -1 });
  await api.put('/menus/1/items/1', undefined, {
    body: `{"${wrongSecret}`,
    headers: { 'content-type': 'application/json', cookie: wrongSecret },
  });
  const webhook = await api.post('/webhooks', { url: `https://user-hook.example/${wrongSecret}` });
  const made = await api.post('/webhooks', { url: 'https://127.0.0.1:9/', event_types: ['item.toggled'] });
  const { secret } = made.body.data;
  t.match(secret, /^whsec_/);
  t.ok(webhook.status >= 201);
  await sendRaw(url, `GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nBroken\r\n\r\n`);
  await sendRaw(url, `GET /%zz HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  await sql`alter table webhook_secret rename to hidden`.execute(database);
  const failed = await request(`${url}/api/v1/webhooks`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'x-request-id': 'the-one-that-failed',
    },
    body: JSON.stringify({ url: 'https://127.0.0.1:9/' }),
  });
  t.equal(failed.statusCode, 500);
  await failed.body.dump();

  await api.get('/locations', { headers: { 'x-request-id': 'the-last-one' } });
  const line = await eventually('the last line', async () =>
    log().find(({ reqId }) => reqId === 'the-last-one'),
  );
  t.match(line, {
    method: 'GET',
    path: '/api/v1/locations',
    operation: 'listLocations',
    client: client_id,
    status: 200,
    ms: Number,
  });
  const ofFailure = log().filter(({ reqId }) => reqId === 'the-one-that-failed');
  t.match(
    ofFailure.find(({ level }) => level === 50),
    { err: { code: '42P01', message: /webhook_secret/ } },
    'the log tells what the answer keeps to itself',
  );
  t.ok(ofFailure.some(({ status }) => status === 500));
  t.ok(log().every(({ msg }) => typeof msg === 'string'));
  const written = service.printed.stdout + service.printed.stderr;
  const [, claims = '', signature = ''] = token.split('.');
  for (const [what, text] of Object.entries({ client_secret, secret, claims, signature, wrongSecret })) {
    t.notOk(written.includes(text), `no ${what} in the log`);
  }
  t.notMatch(written, /Bearer|whsec_|mss_|PRIVATE KEY/);
});

t.test('a failure on our side reveals nothing internal', async (t) => {
  const { url, api, database } = await startDemoProcess(t);
  const authorization = `Bearer ${await api.token()}`;
  await sql`drop table webhook cascade`.execute(database);
  const response = await request(`${url}/api/v1/webhooks`, {
    headers: { authorization, 'x-request-id': 'mine' },
  });
  const text = await response.body.text();
  t.strictSame(JSON.parse(text), {
    type: 'urn:menu-management:problem:internal_error',
    title: 'Internal Server Error',
    status: 500,
    detail: 'An internal error occurred.',
    code: 'internal_error',
    request_id: 'mine',
  });
  checkProblem({ status: 500, headers: response.headers, text, body: JSON.parse(text) });
  t.strictSame(
    Object.keys(response.headers).filter((name) => /powered|server|stack|debug/i.test(name)),
    [],
  );
  t.equal((await api.get('/menus')).status, 200, 'the rest goes on');
});

// Preloaded, so that the service ends by an error that nobody catches.
const crash = `process.on('SIGUSR2', () => { throw new Error('a crash'); })`;

for (const [end, signal] of [
  ['a stop', 'SIGTERM'],
  ['a crash', 'SIGUSR2'],
] as const) {
  t.test(`${end} loses no line of the log`, async (t) => {
    const connection = await cloneDatabase(t);
    const preload = `--import=data:text/javascript,${encodeURIComponent(crash)}`;
    const service = launch([process.execPath, preload, 'src/main.ts'], {
      ...environmentOf(connection),
      PORT: '0',
    });
    t.teardown(() => service.stop('SIGKILL', 'group'));
    const ready = await eventually('it is ready', async () =>
      /"address":"([^"]+)"/.exec(service.printed.stdout),
    );
    const ids = Array.from({ length: 500 }, (_, call) => `call-${call}`);
    await Promise.all(ids.map((id) => send(`${ready[1]}`, 'GET', '/api/v1/menus', { 'x-request-id': id })));
    const { stdout, stderr, ended } = await service.stop(signal);
    t.equal(ended, signal === 'SIGTERM' ? 0 : 1, stderr);
    const lines = stdout.split('\n').filter((line) => line.includes('"reqId":"call-'));
    const logged = lines.map((line) => JSON.parse(line).reqId);
    t.strictSame(logged.sort(), ids.sort());
    if (signal === 'SIGUSR2') t.match(stderr, /Error: a crash/);
  });
}

t.test('a client that hangs up in the middle of its body is no failure on our side', async (t) => {
  const { url, api, log } = await startDemoProcess(t);
  let brokenOffAt = 0;
  const line = await eventually('its line', async () => {
    // One that is gone before the server reads leaves no line; another second, another try.
    if (performance.now() - brokenOffAt > 1_000) {
      brokenOffAt = performance.now();
      await breakOff(url);
    }
    return log().find(({ reqId, msg }) => reqId === 'broken-off' && msg !== 'request completed');
  });
  t.match(line, { level: 30, msg: 'aborted by the client' });
  t.equal((await api.get('/webhooks')).status, 200);
  t.notOk(
    log().some(({ level }) => level >= 40),
    'and nothing is logged as a failure',
  );
});

async function breakOff(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  await new Promise<void>((resolve) => {
    socket.write(
      'POST /api/v1/oauth/token HTTP/1.1\r\nHost: x\r\nX-Request-Id: broken-off\r\nExpect: 100-continue\r\n' +
        'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\n',
    );
    // The server reads the body from now on.
    socket.once('data', () => socket.write('grant', () => resolve()));
  });
  socket.destroy();
}
