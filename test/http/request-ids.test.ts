import t from 'tap';
import { send } from '../support/api.ts';
import { checkProblem } from '../support/contract.ts';
import { startTestService } from '../support/service.ts';

const { url, api, database } = await startTestService(t);

t.test('a valid request id is kept, any other is replaced', async (t) => {
  const responseTo = async (id: string) =>
    (await send(url, 'GET', '/health/live', { 'x-request-id': id })).headers['x-request-id'];
  for (const id of ['a', 'req-0196f3a1c2d4', '9.A_z-', 'x'.repeat(128)]) t.equal(await responseTo(id), id);
  for (const id of [
    '',
    'x'.repeat(129),
    'two words',
    'a,b',
    'a"b',
    '<script>',
    '../..',
    'caf\u00e9',
    '{{7*7}}',
  ]) {
    t.match(await responseTo(id), /^req_[0-9a-f-]{36}$/, `instead of ${id.slice(0, 20)}`);
  }
});

t.test('every response has a request id of its own, errors in their body too', async (t) => {
  const token = await api.token();
  const requests: [number, string, string, Record<string, string>, string?][] = [
    [200, 'GET', '/api/v1/menus', {}],
    [304, 'GET', '/openapi.json', { 'if-none-match': '*' }],
    [401, 'GET', '/api/v1/menus', { authorization: 'Bearer garbage' }],
    [404, 'GET', '/nowhere', {}],
    [404, 'GET', '/docs/static/nowhere.js', {}],
    [404, 'GET', '/api/v1/menus/no-id', {}],
    [405, 'PATCH', '/api/v1/menus', {}],
    [405, 'POST', '/health/live', {}],
    [405, 'DELETE', '/openapi.json', {}],
    [415, 'POST', '/api/v1/webhooks', { 'content-type': 'text/plain' }, 'x'],
    [422, 'GET', '/api/v1/menus?limit=0', {}],
    [422, 'POST', '/api/v1/webhooks', { 'content-type': 'application/json' }, '{'],
  ];
  const ids = new Set<unknown>();
  for (const [status, method, path, headers, body] of requests) {
    const response = await send(url, method, path, { authorization: `Bearer ${token}`, ...headers }, body);
    t.equal(response.status, status, `${method} ${path}`);
    t.type(response.headers['x-request-id'], 'string');
    if (status >= 400) checkProblem(response);
    ids.add(response.headers['x-request-id']);
  }
  t.equal(ids.size, requests.length);
});

t.test('an event carries the id of the request that caused it', async (t) => {
  const { menu_id } = (await api.get('/menus')).body.data[0];
  const { item_id } = (await api.get(`/menus/${menu_id}/items`)).body.data[0];
  const headers = { 'x-request-id': 'pos-17' };
  await api.post(`/menus/${menu_id}/items/${item_id}/toggle`, undefined, { headers });
  const { payload } = await database.selectFrom('event').select('payload').executeTakeFirstOrThrow();
  t.equal(JSON.parse(payload).request_id, 'pos-17');
});
