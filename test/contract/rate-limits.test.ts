import t from 'tap';
import { send } from '../support/api.ts';
import { startTestService } from '../support/service.ts';
import { exampleCalls, pathOf, securedCalls, unknownIds } from './example-calls.ts';

t.test('a client whose quota is used up gets 429 from every operation', async (t) => {
  const { api } = await startTestService(t, { rateLimitPerMinute: 3 });
  for (const remaining of [2, 1, 0]) {
    const response = await api.get('/locations');
    t.equal(response.status, 200);
    t.equal(response.headers['ratelimit-policy'], '"default";q=3;w=60');
    t.match(response.headers['ratelimit'], new RegExp(`^"default";r=${remaining};t=\\d+$`));
  }
  for (const call of securedCalls.filter(({ rateLimit }) => rateLimit === null)) {
    const response = await api.call(call.method, pathOf(call, unknownIds));
    t.match(response, { status: 429, body: { title: 'Too Many Requests', code: 'rate_limited' } }, call.id);
    const wait = Number(response.headers['retry-after']);
    t.ok(wait >= 1 && wait <= 60, `${call.id} says how long to wait: ${wait}`);
    t.match(response.headers['ratelimit'], /^"default";r=0;t=\d+$/);
  }
});

t.test('an operation with a quota of its own responds 429 when that is used up', async (t) => {
  const service = await startTestService(t);
  const token = await service.api.token();
  for (const call of exampleCalls.filter(({ rateLimit }) => rateLimit !== null)) {
    // By address only what shows wrong credentials is counted, such as those of the contract's examples.
    const headers: Record<string, string> =
      call.rateLimit?.per === 'client'
        ? { authorization: `Bearer ${token}` }
        : { 'content-type': call.example?.mediaType ?? '' };
    const body = call.rateLimit?.per === 'client' ? undefined : call.example?.text;
    const request = () => send(service.url, call.method, `/api/v1${pathOf(call, unknownIds)}`, headers, body);
    let response = await request();
    for (let sent = 1; response.status !== 429 && sent <= (call.rateLimit?.limit ?? 0); sent++) {
      response = await request();
    }
    t.match(response, { status: 429, body: { title: 'Too Many Requests', code: 'rate_limited' } }, call.id);
    t.ok(Number(response.headers['retry-after']) >= 1);
  }
});

t.test('clients are counted separately', async (t) => {
  const service = await startTestService(t, { rateLimitPerMinute: 1 });
  t.equal((await service.api.get('/locations')).status, 200);
  t.equal((await service.api.get('/locations')).status, 429);
  const other = await service.client();
  t.equal((await other.get('/locations')).status, 200);
});

t.test('refused tokens are limited by address, and valid ones are not affected by that', async (t) => {
  const { url, api } = await startTestService(t);
  await api.token();
  const refused = () => send(url, 'GET', '/api/v1/menus', { authorization: 'Bearer garbage' });
  for (let sent = 0; sent < 30; sent++) t.equal((await refused()).status, 401);
  const response = await refused();
  t.match(response, { status: 429, body: { code: 'rate_limited' } });
  t.ok(Number(response.headers['retry-after']) >= 1);
  t.equal((await api.get('/menus')).status, 200);
});
