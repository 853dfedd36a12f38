import { Readable } from 'node:stream';
import t, { type Test } from 'tap';
import { request } from 'undici';
import { operations } from '../../generated/operations.ts';
import type { Api, CallOptions } from '../support/api.ts';
import { sendRaw } from '../support/raw.ts';
import { startTestService } from '../support/service.ts';

const bodyLimit = operations.updateItem.bodyLimit ?? 0;

async function startWithItem(t: Test): Promise<{ api: Api; path: string }> {
  const { api } = await startTestService(t);
  const { menu_id } = (await api.get('/menus')).body.data[0];
  const { item_id } = (await api.get(`/menus/${menu_id}/items`)).body.data[0];
  return { api, path: `/menus/${menu_id}/items/${item_id}` };
}

const as = (mediaType: string, body?: string | Buffer): CallOptions => ({
  headers: { 'content-type': mediaType },
  ...(body !== undefined && { body }),
});

t.test('toggle takes no body, so whatever is sent as one is ignored', async (t) => {
  const { api, path } = await startWithItem(t);
  let { is_available } = (await api.get(path)).body.data;
  for (const [what, options] of Object.entries<CallOptions>({
    'nothing at all': {},
    'JSON without a body': as('application/json'),
    'JSON with an empty body': as('application/json', ''),
    'an empty object': as('application/json', '{}'),
    'a wish of its own': as('application/json', '{"is_available":true}'),
    'broken JSON': as('application/json', '{'),
    'a form': as('application/x-www-form-urlencoded', 'a=1&a=2'),
    'an upload': as('multipart/form-data; boundary=x', '--x--'),
    text: as('text/plain', 'text'),
    'no media type': { body: 'text' },
    'a media type that is none': as('nonsense', 'x'),
    bytes: as('application/octet-stream', Buffer.from([0, 255, 254])),
    'something compressed': { body: 'x', headers: { 'content-encoding': 'gzip' } },
    'more than the limit': as('application/json', 'x'.repeat(bodyLimit * 3)),
  })) {
    const response = await api.call('POST', `${path}/toggle`, options);
    is_available = !is_available;
    t.match(response, { status: 200, body: { data: { is_available } } }, what);
  }
  t.equal((await api.get(path)).status, 200);
});

t.test('toggle ignores a body in chunks as well', async (t) => {
  const { api, path } = await startWithItem(t);
  const before = (await api.get(path)).body.data.is_available;
  const { statusCode, body } = await request(`${api.url}/api/v1${path}/toggle`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${await api.token()}` },
    body: Readable.from([Buffer.from('{'), Buffer.from('}')]),
  });
  t.equal(statusCode, 200);
  t.equal(((await body.json()) as { data: { is_available: boolean } }).data.is_available, !before);
});

t.test('reads and deletes ignore a body too', async (t) => {
  const { api, path } = await startWithItem(t);
  const webhook = await api.post('/webhooks', { url: 'https://127.0.0.1:9/' });
  const head =
    `HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${await api.token()}\r\n` +
    'Content-Type: application/json\r\nContent-Length: 1\r\n\r\n{';
  t.equal((await sendRaw(api.url, `GET /api/v1${path} ${head}`)).status, 200);
  const { webhook_id } = webhook.body.data;
  t.equal((await sendRaw(api.url, `DELETE /api/v1/webhooks/${webhook_id} ${head}`)).status, 204);
});

t.test('a body of exactly the limit is read, and JSON may name its encoding', async (t) => {
  const { api, path } = await startWithItem(t);
  const body = '{"price":1}'.padEnd(bodyLimit);
  t.equal((await api.call('PUT', path, as('application/json', body))).status, 200);
  t.equal((await api.call('PUT', path, as('application/json', `${body} `))).status, 413);
  for (const mediaType of ['application/json; charset=utf-8', 'Application/JSON;charset=UTF-8']) {
    t.equal((await api.call('PUT', path, as(mediaType, '{"price":2}'))).status, 200, mediaType);
  }
});

t.test('a client that sends far too much still gets to read why it is refused', async (t) => {
  const { api, path } = await startWithItem(t);
  const body = Buffer.alloc(16 * bodyLimit, 32);
  for (const mediaType of ['application/json', 'text/plain']) {
    const response = await api.call('PUT', path, as(mediaType, body));
    t.equal(response.status, mediaType === 'text/plain' ? 415 : 413, mediaType);
  }
});
