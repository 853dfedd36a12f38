import t, { type Test } from 'tap';
import { poolUse } from '../../src/db/database.ts';
import { type Api, send } from '../support/api.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** Asks for a token from an address that the trusted proxy reports. */
function ask({ url }: TestService, id: string, secret: string, from: string) {
  return send(
    url,
    'POST',
    '/api/v1/oauth/token',
    {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
      'x-forwarded-for': from,
    },
    'grant_type=client_credentials',
  );
}

function startBehindProxy(t: Test): Promise<TestService> {
  return startTestService(t, { trustedProxies: ['127.0.0.1/32'] });
}

function askRightly(service: TestService, { credentials }: Api, from: string) {
  return ask(service, credentials.client_id, credentials.client_secret, from);
}

async function statuses(times: number, request: (index: number) => Promise<{ status: number }>) {
  const counted: Record<number, number> = {};
  for (let sent = 0; sent < times; sent++) {
    const { status } = await request(sent);
    counted[status] = (counted[status] ?? 0) + 1;
  }
  return counted;
}

t.test(
  'who has the right secret gets a token, whatever others send from its address or in its name',
  async (t) => {
    const service = await startBehindProxy(t);
    const { client_id } = service.api.credentials;
    const here = '198.51.100.1';
    t.same(await statuses(60, () => ask(service, client_id, 'mss_wrong', here)), { 401: 30, 429: 30 });
    t.same(await statuses(60, () => askRightly(service, service.api, here)), { 200: 60 });
    t.equal((await ask(service, client_id, 'mss_wrong', here)).status, 429, 'which ends no limit');
  },
);

t.test('wrong credentials are counted by address, an IPv6 one by its /64', async (t) => {
  const service = await startBehindProxy(t);
  const guess = (from: string) => (index: number) => ask(service, `client_${index}`, 'mss_wrong', from);
  t.same(await statuses(31, guess('198.51.100.1')), { 401: 30, 429: 1 });
  t.same(await statuses(1, guess('198.51.100.2')), { 401: 1 });
  t.same(await statuses(31, (index) => guess(`2001:db8::${index}`)(index)), { 401: 30, 429: 1 });
  t.same(await statuses(1, guess('2001:db8:0:1::1')), { 401: 1 });
});

t.test('wrong secrets of a client are counted wherever they come from', async (t) => {
  const service = await startBehindProxy(t);
  const { client_id } = service.api.credentials;
  const guess = (id: string) => (index: number) => ask(service, id, 'mss_wrong', `198.51.100.${index}`);
  t.same(await statuses(40, guess(client_id)), { 401: 30, 429: 10 });
  t.same(
    await statuses(40, guess('client_unknown')),
    { 401: 30, 429: 10 },
    'so that it tells nobody who exists',
  );
  const other = await service.client();
  t.equal((await ask(service, other.credentials.client_id, 'mss_wrong', '198.51.100.1')).status, 401);
  t.equal((await askRightly(service, service.api, '198.51.100.1')).status, 200);
});

t.test('a request refused for a reason other than its credentials is not counted', async (t) => {
  const service = await startBehindProxy(t);
  const { client_id, client_secret } = service.api.credentials;
  const authorization = `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`;
  const beyond = (body: string) => () =>
    send(
      service.url,
      'POST',
      '/api/v1/oauth/token',
      { 'content-type': 'application/x-www-form-urlencoded', authorization },
      body,
    );
  t.same(await statuses(40, beyond('grant_type=client_credentials&scope=everything')), { 400: 40 });
  t.same(await statuses(40, beyond('grant_type=password')), { 400: 40 });
});

t.test('a flood of unknown clients occupies one connection, and valid ones get through it', async (t) => {
  const service = await startBehindProxy(t);
  const before = poolUse(service.database);
  t.ok(before.busy + before.idle <= 2);
  const wrong = Array.from({ length: 1_000 }, (_, index) =>
    ask(service, `client_${index}`, 'mss_wrong', '198.51.100.1'),
  );
  const right = Array.from({ length: 50 }, () => askRightly(service, service.api, '198.51.100.1'));
  t.same(new Set((await Promise.all(right)).map(({ status }) => status)), new Set([200]));
  const refused = (await Promise.all(wrong)).map(({ status }) => status);
  t.ok(refused.filter((status) => status === 401).length <= 30);
  t.same(new Set(refused), new Set([401, 429]));
  const after = poolUse(service.database);
  t.ok(after.busy + after.idle <= 2, `${after.busy + after.idle} connections`);
});

t.test(
  'tokens that this service never issued are counted by address, and good ones are not touched',
  async (t) => {
    const service = await startBehindProxy(t);
    const call = (token: string | null, from: string) =>
      service.api.get('/menus?limit=1', { token, headers: { 'x-forwarded-for': from } });
    const good = await service.api.token();
    t.same(await statuses(31, () => call('garbage', '198.51.100.1')), { 401: 30, 429: 1 });
    t.same(await statuses(40, () => call(good, '198.51.100.1')), { 200: 40 });
    t.equal((await call(null, '198.51.100.1')).status, 429);
    t.equal((await call(null, '198.51.100.2')).status, 401);
  },
);

t.test(
  'a token that has ended gets its 401 however often, so that its client learns to get another',
  async (t) => {
    const service = await startBehindProxy(t);
    const ended = await service.client();
    const token = await ended.token();
    await service.database
      .updateTable('client')
      .set({ token_generation: 1 })
      .where('client_id', '=', ended.credentials.client_id)
      .execute();
    t.same(await statuses(40, () => ended.get('/menus', { token })), { 401: 40 });
    t.equal((await service.api.get('/menus', { token: 'garbage' })).status, 401, 'and nothing was counted');
  },
);
