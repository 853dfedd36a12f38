import { createHook } from 'node:async_hooks';
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { Agent, request } from 'undici';
import { checkAgainstContract } from '../support/contract.ts';
import { makeItem, makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const { url, api } = await startTestService(t);
const dispatcher = new Agent({ keepAliveTimeout: 1_000 });
t.teardown(() => dispatcher.close());
const token = await api.token();

interface Asked {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  coding: string;
  /** As it was sent. */
  bytes: Buffer;
  text: string;
}

/** A request with a token; the response is decoded, and held against the contract. */
async function ask(
  path: string,
  headers: Record<string, string> = {},
  { method = 'GET', json }: { method?: 'GET' | 'HEAD' | 'PUT' | 'POST'; json?: unknown } = {},
): Promise<Asked> {
  const response = await request(url + path, {
    method,
    dispatcher,
    headers: {
      authorization: `Bearer ${token}`,
      ...(json !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  const bytes = Buffer.from(await response.body.arrayBuffer());
  const coding = String(response.headers['content-encoding'] ?? 'identity');
  const decode = { gzip: gunzipSync, br: brotliDecompressSync }[coding] ?? ((sent: Buffer) => sent);
  const text = method === 'HEAD' ? '' : decode(bytes).toString();
  const { statusCode: status, headers: got } = response;
  if (method !== 'HEAD') checkAgainstContract(method, path, { status, headers: got, text, body: undefined });
  return { status, headers: got, coding, bytes, text };
}

const { menu, category, item } = await makeTree(api);
for (let n = 0; n < 20; n++) await makeItem(api, category, { description: `Number ${n}, as every evening.` });
const path = `/api/v1/menus/${menu.menu_id}`;

t.test('text over 1 kB is compressed on request, and decompresses to the same', async (t) => {
  const csv = { accept: 'text/csv' };
  const wrong = { items: Array.from({ length: 50 }, () => ({ item_id: 0 })) };
  const cases: [string, Record<string, string>, Parameters<typeof ask>[2]?][] = [
    [path, {}],
    [`${path}/items`, {}],
    [`${path}/content`, {}],
    [`${path}/content`, csv],
    [`${path}/availability`, {}, { method: 'POST', json: wrong }],
    ['/openapi.json', {}],
    ['/openapi.yaml', {}],
    ['/docs/page.css', {}],
    ['/metrics', {}],
  ];
  for (const [path, headers, options] of cases) {
    const plain = await ask(path, headers, options);
    t.equal(plain.coding, 'identity', `${path}, unasked`);
    t.match(plain.headers['vary'], /(^|, )Accept-Encoding$/);
    t.ok(plain.bytes.length > 1024);
    for (const coding of ['gzip', 'br']) {
      const packed = await ask(path, { ...headers, 'accept-encoding': coding }, options);
      t.equal(packed.status, plain.status);
      t.equal(packed.coding, coding, path);
      t.ok(
        packed.bytes.length < plain.bytes.length / 1.5,
        `${packed.bytes.length} of ${plain.bytes.length} bytes`,
      );
      // The one has an id of its own in it, the other counts.
      if (plain.status === 200 && path !== '/metrics') t.equal(packed.text, plain.text);
      t.equal(packed.headers['content-type'], plain.headers['content-type']);
      t.equal(packed.headers['vary'], plain.headers['vary']);
      if (packed.headers['transfer-encoding'] === undefined)
        t.equal(packed.headers['content-length'], String(packed.bytes.length));
    }
  }
});

t.test('Accept-Encoding chooses by its weights', async (t) => {
  const chosen = async (path: string, accepted: string) =>
    (await ask(path, { 'accept-encoding': accepted })).coding;
  for (const [accepted, coding] of [
    ['', 'identity'],
    ['identity', 'identity'],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['x-gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip;q=1.0, br;q=0.9', 'gzip'],
    ['br;q=0.5, gzip;q=0.5', 'br'],
    ['gzip;q=0', 'identity'],
    ['gzip;q=0.5, identity', 'identity'],
    ['gzip;q=0.001', 'gzip'],
    ['*', 'br'],
    ['*;q=0', 'identity'],
    ['br;q=0, *', 'gzip'],
    ['gzip, *;q=0', 'gzip'],
    ['deflate, zstd', 'identity'],
    ['gzip;q=2', 'identity'],
    [' gzip ; q=0.8 , br;q=0.7', 'gzip'],
    ['identity;q=0', 'identity'],
    ['identity;q=0, gzip', 'gzip'],
  ] as const)
    t.equal(await chosen(path, accepted), coding, JSON.stringify(accepted));

  const small = `${path}/items/${item.item_id}`;
  t.equal(await chosen(small, 'gzip'), 'identity', 'less than 1 kB');
  t.equal(await chosen(small, 'identity;q=0, gzip'), 'gzip', 'unless it has to be');
});

t.test('each coding has an ETag of its own, and each of them is recognised', async (t) => {
  const tagOf = async (accepted: string) =>
    String((await ask(path, { 'accept-encoding': accepted })).headers['etag']);
  const [plain, gzip, br] = [await tagOf('identity'), await tagOf('gzip'), await tagOf('br')];
  t.equal(gzip, plain.replace(/"$/, '-gzip"'));
  t.equal(br, plain.replace(/"$/, '-br"'));

  const again = async (accepted: string, tag: string) => {
    const { status, headers, bytes, coding } = await ask(path, {
      'accept-encoding': accepted,
      'if-none-match': tag,
    });
    if (status === 304)
      t.strictSame([bytes.length, coding, headers['vary']], [0, 'identity', 'Accept-Encoding']);
    return status === 304 ? headers['etag'] : status;
  };
  t.equal(await again('gzip', gzip), gzip, 'a 304 names what the client has');
  t.equal(await again('br, gzip', gzip), gzip);
  t.equal(await again('gzip', `W/${gzip}`), gzip);
  t.equal(await again('gzip', plain), plain, 'identity is acceptable, too');
  t.equal(await again('br, gzip', `${plain}, ${gzip}, ${br}`), br, 'of several the one that is preferred');
  t.equal(await again('gzip', '*'), plain);
  t.equal(await again('identity', gzip), 200, 'a cache keeps gzip, but this client does not accept it');
  t.equal(await again('gzip', '"x-gzip"'), 200);

  const csv = { accept: 'text/csv', 'accept-encoding': 'gzip' };
  const exported = await ask(`${path}/content`, csv);
  t.match(exported.headers['etag'], /-csv-gzip"$/);
  const unchanged = await ask(`${path}/content`, {
    ...csv,
    'if-none-match': String(exported.headers['etag']),
  });
  t.match(unchanged, {
    status: 304,
    headers: { etag: exported.headers['etag'], vary: 'Accept, Accept-Encoding' },
  });

  const document = await ask('/openapi.json', { 'accept-encoding': 'br' });
  const tag = String(document.headers['etag']);
  t.match(await ask('/openapi.json', { 'accept-encoding': 'br', 'if-none-match': tag }), { status: 304 });
});

t.test('If-Match takes the ETag of whichever coding was read', async (t) => {
  for (const accepted of ['identity', 'gzip', 'br']) {
    const tag = String((await ask(path, { 'accept-encoding': accepted })).headers['etag']);
    const update = () => ask(path, { 'if-match': tag }, { method: 'PUT', json: { name: `As ${accepted}` } });
    t.equal((await update()).status, 200, accepted);
    t.equal((await update()).status, 412, 'it has changed since');
  }
  const exported = await ask(`${path}/content`, { accept: 'text/csv', 'accept-encoding': 'br' });
  const imported = await ask(
    `${path}/content?dry_run=true`,
    { 'if-match': String(exported.headers['etag']) },
    { method: 'PUT', json: JSON.parse((await ask(`${path}/content`)).text) },
  );
  t.equal(imported.status, 200);
});

t.test('HEAD reports of a compressed body what GET sends', async (t) => {
  for (const path of ['/openapi.json', '/openapi-3.0.yaml']) {
    const headers = { 'accept-encoding': 'gzip' };
    const [get, head] = [await ask(path, headers), await ask(path, headers, { method: 'HEAD' })];
    for (const name of ['content-encoding', 'content-length', 'content-type', 'etag', 'vary'])
      t.equal(head.headers[name], get.headers[name], name);
    t.equal(head.bytes.length, 0);
  }
});

t.test('bodies that never change are compressed more thoroughly than others', async (t) => {
  const [module = ''] = /\/docs\/scalar\/[^"]+/.exec((await ask('/docs')).text) ?? [];
  for (const [path, isImmutable] of [
    [module, true],
    ['/openapi.json', false],
  ] as const) {
    const { bytes, text, headers } = await ask(path, { 'accept-encoding': 'gzip' });
    t.equal(/immutable/.test(String(headers['cache-control'])), isImmutable, path);
    const usual = gzipSync(text, { level: 4 }).length;
    t.equal(bytes.length < usual, isImmutable, `${bytes.length} of ${usual} bytes`);
  }
});

t.test('a body that is read repeatedly is compressed only once', async (t) => {
  let compressions = 0;
  const hook = createHook({
    init(_id, type) {
      if (type === 'ZLIB') compressions += 1;
    },
  }).enable();
  t.teardown(() => hook.disable());
  await api.put(`/menus/${menu.menu_id}`, { name: 'Another evening' });
  const bodies = await Promise.all(Array.from({ length: 20 }, () => ask(path, { 'accept-encoding': 'br' })));
  t.equal(new Set(bodies.map(({ bytes }) => bytes.toString('base64'))).size, 1);
  // The hook sees as well what the test decompresses at once.
  t.equal(compressions, 1 + 20);
  await ask(path, { 'accept-encoding': 'gzip' });
  t.equal(compressions, 1 + 20 + 2);
});

t.test('a response with a secret is never compressed', async (t) => {
  const { client_id, client_secret } = api.credentials;
  const response = await request(`${url}/api/v1/oauth/token`, {
    method: 'POST',
    dispatcher,
    headers: { 'accept-encoding': 'gzip, identity;q=0', 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret }).toString(),
  });
  t.match(await response.body.json(), { token_type: 'Bearer' });
  t.equal(response.headers['content-encoding'], undefined);

  const json = { url: 'http://127.0.0.1:9/', description: 'x'.repeat(2_000) };
  const created = await ask('/api/v1/webhooks', { 'accept-encoding': 'gzip' }, { method: 'POST', json });
  t.match(created, { status: 201, coding: 'identity' });
  const { webhook_id } = JSON.parse(created.text).data;
  const own = `/api/v1/webhooks/${webhook_id}`;
  const rotated = await ask(
    `${own}/rotate-secret`,
    { 'accept-encoding': 'gzip' },
    { method: 'POST', json: {} },
  );
  t.match(rotated, { status: 200, coding: 'identity' });
  t.equal((await ask(own, { 'accept-encoding': 'gzip' })).coding, 'gzip', 'unlike the webhook without it');
});
