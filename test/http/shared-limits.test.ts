import t from 'tap';
import { send } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/process.ts';
import { noRedis as skip, startRedis } from '../support/redis.ts';
import { startTestService } from '../support/service.ts';

t.test('services that share a Redis count the calls of a client together', { skip }, async (t) => {
  const { url: redisUrl } = await startRedis(t);
  const one = await startTestService(t, { redisUrl, rateLimitPerMinute: 3 });
  const other = await startTestService(t, {
    redisUrl,
    rateLimitPerMinute: 3,
    connect: async () => one.connection,
  });
  const token = await one.api.token();
  const call = (service: typeof one) => service.api.get('/locations', { token });
  t.equal((await call(one)).headers['ratelimit']?.slice(0, 13), '"default";r=2');
  t.equal((await call(other)).headers['ratelimit']?.slice(0, 13), '"default";r=1');
  t.equal((await call(one)).status, 200);
  t.equal((await call(other)).status, 429);
  t.equal((await call(one)).status, 429);
});

t.test('services that share a Redis count failed authentications together', { skip }, async (t) => {
  const { url: redisUrl } = await startRedis(t);
  const one = await startTestService(t, { redisUrl });
  const other = await startTestService(t, { redisUrl, connect: async () => one.connection });
  const { client_id, client_secret } = one.api.credentials;
  const ask = ({ url }: typeof one, secret: string) =>
    send(
      url,
      'POST',
      '/api/v1/oauth/token',
      { 'content-type': 'application/x-www-form-urlencoded' },
      new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret: secret }).toString(),
    );
  for (let sent = 0; sent < 15; sent++) {
    t.equal((await ask(one, 'wrong')).status, 401);
    t.equal((await ask(other, 'wrong')).status, 401);
  }
  for (const service of [one, other]) {
    t.equal((await ask(service, 'wrong')).status, 429);
    t.equal((await ask(service, client_secret)).status, 200);
  }
});

t.test('while Redis is unavailable each process counts calls on its own', { skip }, async (t) => {
  const { url: redisUrl, server } = await startRedis(t);
  const { api } = await startTestService(t, { redisUrl, rateLimitPerMinute: 2 });
  for (const status of [200, 200, 429]) t.equal((await api.get('/locations')).status, status);
  server.kill('SIGKILL');
  await eventually('a call is served', async () => (await api.get('/locations')).status === 200);
  t.equal((await api.get('/locations')).status, 200);
  t.equal((await api.get('/locations')).status, 429);
});

t.test('a process that starts without Redis starts, and counts on its own', { skip }, async (t) => {
  const redisUrl = `redis://127.0.0.1:${await freePort()}`;
  const { api } = await startTestService(t, { redisUrl, rateLimitPerMinute: 2 });
  for (const status of [200, 200, 429]) t.equal((await api.get('/locations')).status, status);
  t.match((await api.get('//metrics', { token: null })).text, /^menus_redis_up 0$/m);
});

t.test('while Redis hangs no call waits for it, and all are counted', { skip }, async (t) => {
  const { url: redisUrl, server } = await startRedis(t);
  const { api, app } = await startTestService(t, { redisUrl, rateLimitPerMinute: 50 });
  const complaints = t.capture(app.log, 'error');
  const isUp = async () =>
    /^menus_redis_up (\d)$/m.exec((await api.get('//metrics', { token: null })).text)?.[1];
  const quotaLeft = async () =>
    Number(/r=(\d+)/.exec(String((await api.get('/locations')).headers['ratelimit']))?.[1]);
  t.equal(await quotaLeft(), 49);
  t.equal(await isUp(), '1');

  server.kill('SIGSTOP');
  const start = performance.now();
  const responses = await Promise.all(Array.from({ length: 10 }, () => api.get('/locations')));
  t.ok(performance.now() - start < 1_000);
  t.strictSame([...new Set(responses.map(({ status }) => status))], [200]);
  await eventually('the metric says so', async () => (await isUp()) === '0');
  const again = performance.now();
  const left: number[] = [];
  while (left.length < 10) left.push(await quotaLeft());
  t.ok(performance.now() - again < 1_000, 'nor do later ones wait');
  t.ok(left[0] !== undefined && left[0] < 50 - 10, 'they are counted');
  t.strictSame(
    left,
    left.map((_, index) => Number(left[0]) - index),
    'one by one',
  );
  t.equal((await api.get('/locations', { token: 'x.y.z' })).status, 401);
  t.strictSame(
    complaints.args().map(([, message]) => message),
    ['Redis is unavailable: each process counts calls for itself'],
    'said once',
  );

  server.kill('SIGCONT');
  await eventually('the metric says so', async () => (await isUp()) === '1');
  t.ok((await quotaLeft()) > 0);
});
