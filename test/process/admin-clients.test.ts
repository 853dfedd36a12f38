import t, { type Test } from 'tap';
import { rotateClientSecret } from '../../src/accounts/change-client.ts';
import type { Database } from '../../src/db/database.ts';
import { admin, done } from '../support/admin.ts';
import { type Api, createApi, send } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { environmentOf } from '../support/process.ts';
import { startTestService, type TestService } from '../support/service.ts';

t.setTimeout(120_000);

t.test('a new secret works at once, and the old one until the end of the overlap', async (t) => {
  const { service, run } = await start(t);
  const before = await service.client();
  const { client_id, client_secret } = before.credentials;
  const token = await before.token();
  const rotated = await run('rotate-client-secret', client_id, '--overlap', '2h');
  t.same(Object.keys(rotated), ['client_id', 'client_secret', 'overlap_until']);
  t.ok(near(rotated.overlap_until, 2 * 3_600), rotated.overlap_until);
  t.same(await accepted(service, client_id, [client_secret, rotated.client_secret, 'mss_wrong']), [
    true,
    true,
    false,
  ]);
  t.equal((await before.get('/menus', { token })).status, 200, 'its tokens go on');

  const [listed] = (await run('list-clients')).filter(
    (one: { client_id: string }) => one.client_id === client_id,
  );
  t.equal(listed.overlap_until, rotated.overlap_until);
  await endOverlaps(service.database);
  t.same(await accepted(service, client_id, [client_secret, rotated.client_secret]), [false, true]);
  t.equal(
    (await before.get('/menus', { token })).status,
    200,
    'a token outlives the secret that it was got with',
  );
});

t.test('a second rotation within the overlap leaves every earlier secret its own end', async (t) => {
  const { service, run } = await start(t);
  const first = (await service.client()).credentials;
  const { client_id } = first;
  const second = await run('rotate-client-secret', client_id, '--overlap', '1h');
  const third = await run('rotate-client-secret', client_id);
  t.ok(near(third.overlap_until, 24 * 3_600), 'an overlap is a day unless said otherwise');
  const secrets = [first, second, third].map(({ client_secret }) => client_secret);
  t.same(await accepted(service, client_id, secrets), [true, true, true]);
  const ends = await service.database
    .selectFrom('retired_client_secret')
    .select('expires_at')
    .where('client_id', '=', client_id)
    .orderBy('expires_at')
    .execute();
  t.same(
    ends.map(({ expires_at }) => expires_at.toISOString()),
    [second.overlap_until, third.overlap_until],
  );
});

t.test('after concurrent rotations each secret is valid, and one is the current one', async (t) => {
  const service = await startTestService(t);
  const { client_id, client_secret } = (await service.client()).credentials;
  const rotated = await Promise.all(
    Array.from({ length: 5 }, () => rotateClientSecret(service.database, client_id, 60)),
  );
  const secrets = [client_secret, ...rotated.map((one) => one?.client_secret ?? '')];
  t.same(await accepted(service, client_id, secrets), Array(6).fill(true));
  await endOverlaps(service.database);
  t.equal((await accepted(service, client_id, secrets)).filter(Boolean).length, 1);
});

t.test('without an overlap, every earlier secret and every token ends', async (t) => {
  const { service, run } = await start(t);
  const stolen = await service.client();
  const { client_id, client_secret } = stolen.credentials;
  const token = await stolen.token();
  const second = await run('rotate-client-secret', client_id);
  const third = await run('rotate-client-secret', client_id, '--overlap', '0');
  t.equal(third.overlap_until, null);
  const secrets = [client_secret, second.client_secret, third.client_secret];
  t.same(await accepted(service, client_id, secrets), [false, false, true]);
  await refused(stolen, token);
  const renewed = createApi(service.url, { ...stolen.credentials, client_secret: third.client_secret });
  t.equal((await renewed.get('/menus')).status, 200);
});

t.test('a token never allows more than its client may do now, nor more than was asked for', async (t) => {
  const { service, run } = await start(t);
  const api = await service.client();
  const { client_id } = api.credentials;
  const narrow = await tokenFor(service, api, 'menus:read');
  t.equal((await api.get('/webhooks')).status, 200);

  const reader = await run('update-client', client_id, '--scopes', 'menus:read');
  t.same(reader, { client_id, scopes: ['menus:read'], locations: null });
  await eventually('a scope is gone from the token', async () => (await api.get('/webhooks')).status === 403);
  t.equal((await api.get('/menus')).status, 200);
  t.equal(await tokenFor(service, api, 'webhooks:manage'), 'invalid_scope');

  await run('update-client', client_id, '--scopes', 'menus:read,webhooks:manage');
  await eventually('it is back', async () => (await api.get('/webhooks')).status === 200);
  t.equal((await api.post('/menus/1/items/1/toggle')).status, 403, 'what was not granted again is not');
  t.equal((await api.get('/webhooks', { token: narrow })).status, 403, 'a narrow token gains nothing');
});

t.test(
  'a change of locations counts for the tokens there are, and leaves the scopes as they were',
  async (t) => {
    const { service, run } = await start(t);
    const api = await service.client({ scopes: ['menus:read'] });
    const { client_id } = api.credentials;
    const locations = async () => {
      const menus: { location_id: number }[] = (await api.get('/menus')).body.data;
      return [...new Set(menus.map(({ location_id }) => location_id))].sort();
    };
    t.same(await locations(), [1, 2, 3]);
    const narrowed = await run('update-client', client_id, '--locations', '2');
    t.same(narrowed, { client_id, scopes: ['menus:read'], locations: [2] });
    await eventually('one location is left', async () => String(await locations()) === '2');
    await run('update-client', client_id, '--locations', 'all');
    await eventually('all are back', async () => String(await locations()) === '1,2,3');
  },
);

t.test('an enabled client gets new tokens; those from before it was disabled stay refused', async (t) => {
  const { service, run } = await start(t);
  const api = await service.client();
  const { client_id, client_secret } = api.credentials;
  const token = await api.token();
  t.same(await run('disable-client', client_id), { client_id, disabled: true });
  await refused(api, token);
  t.same(await accepted(service, client_id, [client_secret]), [false]);
  t.same(await run('enable-client', client_id), { client_id, disabled: false });
  const again = createApi(service.url, api.credentials);
  await eventually('a new token is accepted', async () => (await again.get('/menus')).status === 200);
  await refused(api, token);
});

t.test('a client can be given an id that says who it is, and what it switches off names it', async (t) => {
  const { service, run, env } = await start(t);
  const pass = await run('create-client', '--account', 'Demo', '--client', 'kitchen-pass.1');
  t.equal(pass.client_id, 'kitchen-pass.1');
  const api = createApi(service.url, pass);
  const off = await api.post('/menus/1/items/1/toggle');
  t.match(off.body.data, { is_available: false, unavailable_by: 'kitchen-pass.1' });

  for (const account of ['Demo', 'Another']) {
    const again = await admin(t, env, 'create-client', '--account', account, '--client', pass.client_id);
    t.equal(again.ended, 1, account);
    t.equal(again.stderr, 'admin: there is a client kitchen-pass.1 already: name another one\n');
  }
  const others = service.database.selectFrom('account').select('name').where('name', '=', 'Another');
  t.same(await others.execute(), [], 'nor was an account created for it');
  t.same(await accepted(service, pass.client_id, [pass.client_secret]), [true]);
});

/** A service, and the admin command on its database. */
async function start(t: Test) {
  const service = await startTestService(t);
  const env = environmentOf(service.connection);
  return { service, env, run: (...args: string[]) => done(t, env, ...args) };
}

async function accepted({ url }: TestService, client_id: string, secrets: string[]): Promise<boolean[]> {
  const responses = await Promise.all(
    secrets.map((client_secret) => requestToken(url, { client_id, client_secret })),
  );
  for (const { status } of responses) if (![200, 401].includes(status)) throw new Error(`status ${status}`);
  return responses.map(({ status }) => status === 200);
}

/** A token with these scopes, or the error in its place. */
async function tokenFor({ url }: TestService, { credentials }: Api, scope: string): Promise<string> {
  const { client_id, client_secret } = credentials;
  const { body } = await requestToken(url, { client_id, client_secret, scope });
  return body.access_token ?? body.error;
}

function requestToken(url: string, parameters: Record<string, string>) {
  const body = new URLSearchParams({ grant_type: 'client_credentials', ...parameters }).toString();
  return send(
    url,
    'POST',
    '/api/v1/oauth/token',
    { 'content-type': 'application/x-www-form-urlencoded' },
    body,
  );
}

async function refused(api: Api, token: string): Promise<void> {
  await eventually('the token is refused', async () => (await api.get('/menus', { token })).status === 401);
}

async function endOverlaps(database: Database): Promise<void> {
  await database.updateTable('retired_client_secret').set({ expires_at: new Date() }).execute();
}

function near(moment: string, seconds: number): boolean {
  return Math.abs(new Date(moment).getTime() - Date.now() - seconds * 1_000) < 60_000;
}
