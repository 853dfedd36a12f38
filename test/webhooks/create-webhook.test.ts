import t from 'tap';
import type { ApiResponse } from '../support/api.ts';
import { startTestService } from '../support/service.ts';
import { storedText } from '../support/stored-text.ts';

t.test('an endpoint is created with its defaults, its address, its ETag and its secret', async (t) => {
  const { api } = await startTestService(t);
  const made = await api.post('/webhooks', { url: 'https://hooks.example.com/menus' });
  t.match(made, { status: 201, headers: { etag: /^"1-[0-9a-f]+"$/ } });
  const { secret, ...webhook } = made.body.data;
  t.match(webhook, {
    url: 'https://hooks.example.com/menus',
    description: '',
    event_types: [],
    location_ids: [],
    menu_ids: [],
    enabled: true,
    disabled_reason: null,
    disabled_at: null,
    version: 1,
  });
  t.equal(Buffer.from(secret.slice('whsec_'.length), 'base64').length, 32);
  t.equal(made.headers['location'], `/api/v1/webhooks/${webhook.webhook_id}`);
  t.same((await api.get(`//${String(made.headers['location']).slice(1)}`)).body.data, webhook);
});

t.test('the secret is shown once, and nothing of it is stored in clear', async (t) => {
  const { api, database } = await startTestService(t);
  const headers = { 'idempotency-key': 'one' };
  const made = await api.post('/webhooks', { url: 'https://hooks.example.com/' }, { headers });
  const { secret, webhook_id } = made.body.data;
  for (const response of [await api.get('/webhooks'), await api.get(`/webhooks/${webhook_id}`)]) {
    t.notMatch(response.text, /secret|whsec_/);
  }
  const again = await api.post('/webhooks', { url: 'https://hooks.example.com/' }, { headers });
  t.same(again.body, made.body, 'save to a repeat of the very same call');

  const stored = await storedText(database);
  t.match(stored, 'https://hooks.example.com/', 'the look at the tables finds what is there');
  const key = secret.slice('whsec_'.length);
  for (const clear of [key, Buffer.from(key).toString('hex'), Buffer.from(key, 'base64').toString('hex')]) {
    t.notOk(stored.includes(clear));
  }
});

t.test('a client whose name servers are silent holds no connection that others need', async (t) => {
  const silent = new Promise<never>(() => {});
  const { api, client } = await startTestService(t, { lookup: () => silent, pool: { max: 16 } });
  const other = await client({ account: 'Other' });
  const creating = Array.from({ length: 20 }, (_, number) =>
    api.post(
      '/webhooks',
      { url: `https://${number}.example.com/` },
      { headers: { 'idempotency-key': `${number}` } },
    ),
  );
  let all: ApiResponse[] | undefined;
  const done = Promise.all(creating).then((responses) => {
    all = responses;
  });
  while (!all) t.equal((await other.get('/locations')).status, 200);
  await done;
  t.same([...new Set(all.map(({ status }) => status))], [201]);
});

t.test('a private address, however it is written, is refused', async (t) => {
  const { api } = await startTestService(t, { allowedNetworks: [] });
  const hosts = [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '%31%32%37.0.0.1',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '0xa9fea9fe',
    '100.64.0.1',
    '0.0.0.0',
    '192.0.2.1',
    '255.255.255.255',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[fc00::1]',
    '[fe80::1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    'localhost',
  ];
  for (const host of hosts) {
    const refused = await api.post('/webhooks', { url: `https://${host}:8443/hook` });
    t.match(refused, { status: 422, body: { code: 'parameter_error' } }, host);
    t.match(refused.body.errors, [{ field: '/url', code: 'blocked_address' }], host);
    const told = JSON.stringify({ ...refused.body, request_id: '' });
    t.notMatch(told, /127|10\.0|192\.168|169\.254/, 'and nothing is told of the network behind it');
  }
  t.same((await api.get('/webhooks')).body.data, []);
});

t.test(
  'an address must be https without user name or fragment; http leads to allowed networks only',
  async (t) => {
    const { api } = await startTestService(t, { allowedNetworks: ['10.0.0.0/8'] });
    const codeOf = async (url: string) => {
      const { status, body } = await api.post('/webhooks', { url });
      return status === 201 ? 201 : body.errors[0].code;
    };
    t.equal(await codeOf('http://10.1.2.3/hook'), 201);
    t.equal(await codeOf('https://10.1.2.3:9443/hook?shop=1'), 201);
    t.equal(await codeOf('http://93.184.215.14/'), 'https_required');
    t.equal(await codeOf('https://192.168.1.1/'), 'blocked_address');
    t.equal(await codeOf('https://user@hooks.example.com/'), 'characters');
    t.equal(await codeOf('https://hooks.example.com/#part'), 'characters');
    t.equal(await codeOf('ftp://hooks.example.com/'), 'characters');
    t.equal(await codeOf('https://300.1.1.1/'), 'invalid_url');
  },
);

t.test('filters name what the client can see, and all errors are reported at once', async (t) => {
  const { api, client } = await startTestService(t);
  const [location, other] = (await api.get('/locations')).body.data;
  const [menu] = (await api.get(`/menus?location_id=${location.location_id}`)).body.data;
  const [foreign] = (await api.get(`/menus?location_id=${other.location_id}`)).body.data;
  const local = await client({ locations: [location.location_id] });

  const filters = {
    event_types: ['item.*', 'menu.toggled'],
    location_ids: [location.location_id],
    menu_ids: [menu.menu_id],
  };
  const url = 'https://hooks.example.com/';
  t.match(await local.post('/webhooks', { url, ...filters }), { status: 201, body: { data: filters } });

  const refused = await local.post('/webhooks', {
    url: 'https://10.0.0.1/',
    location_ids: [location.location_id, other.location_id, 9_007_199_254_740_991],
    menu_ids: [foreign.menu_id],
  });
  t.match(refused, { status: 422 });
  t.same(
    refused.body.errors.map(({ field, code }: { field: string; code: string }) => `${field} ${code}`),
    [
      '/location_ids/1 not_found',
      '/location_ids/2 not_found',
      '/menu_ids/0 not_found',
      '/url blocked_address',
    ],
  );
  const stranger = await client({ account: 'Another restaurant group' });
  t.match(await stranger.post('/webhooks', { url, menu_ids: [menu.menu_id] }), {
    status: 422,
    body: { errors: [{ field: '/menu_ids/0', code: 'not_found' }] },
  });
});

t.test('event types and fields that do not exist are refused by name', async (t) => {
  const { api } = await startTestService(t);
  const refused = await api.post('/webhooks', {
    url: 'https://hooks.example.com/',
    event_types: ['item.toggled', 'item.sold', '*'],
    colour: 'red',
  });
  t.match(refused, { status: 422 });
  t.same(
    refused.body.errors.map(({ field }: { field: string }) => field),
    ['/colour', '/event_types/1', '/event_types/2'],
  );
});

t.test('an account cannot exceed its limit of endpoints, even if they are registered at once', async (t) => {
  const { api, client } = await startTestService(t, { webhooksPerAccount: 5 });
  const other = await client();
  const register = (by = api) => by.post('/webhooks', { url: 'https://hooks.example.com/' });
  const registered = await Promise.all(Array.from({ length: 20 }, (_, n) => register(n % 2 ? api : other)));
  t.equal(registered.filter(({ status }) => status === 201).length, 5);
  for (const { status, body } of registered.filter(({ status }) => status !== 201)) {
    t.match({ status, errors: body.errors }, { status: 422, errors: [{ field: '', code: 'too_many' }] });
  }
  const first = (await api.get('/webhooks')).body.data[0];
  t.equal((await api.delete(`/webhooks/${first.webhook_id}`)).status, 204);
  t.same([(await register()).status, (await register(other)).status], [201, 422], 'a deleted one makes room');
});
