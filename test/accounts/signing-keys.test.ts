import type { FastifyInstance } from 'fastify';
import t, { type Test } from 'tap';
import { loadSigningKeys } from '../../src/accounts/signing-keys.ts';
import { openDatabase } from '../../src/db/database.ts';
import { createSeal } from '../../src/db/seal.ts';
import { createDestination } from '../../src/webhooks/delivery/destination.ts';
import { send } from '../support/api.ts';
import { startBehindProxy } from '../support/database-proxy.ts';
import { eventually } from '../support/eventually.ts';
import { buildTestApp, encryptionKey, startTestService, type TestService } from '../support/service.ts';

t.test('a second service on the same database accepts the tokens of the first', async (t) => {
  const first = await startTestService(t);
  const second = await startSecond(t, first, encryptionKey);
  const url = await second.listen({ port: 0, host: '127.0.0.1' });
  const authorization = `Bearer ${await first.api.token()}`;
  t.equal((await send(url, 'GET', '/api/v1/menus', { authorization })).status, 200);
  const jwks = (base: string) => send(base, 'GET', '/.well-known/jwks.json', {});
  t.strictSame((await jwks(url)).body, (await jwks(first.url)).body);
});

t.test('another ENCRYPTION_KEY is refused with one line, and the key is left as it was', async (t) => {
  const first = await startTestService(t);
  const stored = () => first.database.selectFrom('signing_key').selectAll().execute();
  const before = await stored();
  await t.rejects(startSecond(t, first, Buffer.alloc(32, 'other')), {
    message: /^ENCRYPTION_KEY is not the key that this database was set up with[^\n]*$/,
  });
  t.strictSame(await stored(), before);
});

t.test('services that start together on a new database share one key', async (t) => {
  const { database } = await startTestService(t);
  await database.deleteFrom('signing_key').execute();
  const seal = createSeal(encryptionKey);
  const loaded = await Promise.all([1, 2, 3, 4].map(() => loadSigningKeys(database, seal)));
  const signing = await Promise.all(loaded.map((keys) => keys.signing()));
  t.equal(new Set(signing.map(({ kid }) => kid)).size, 1);
  t.equal((await database.selectFrom('signing_key').select('kid').execute()).length, 1);
});

t.test('a key that another process has created since is found', async (t) => {
  const { database } = await startTestService(t);
  const seal = createSeal(encryptionKey);
  const mine = await loadSigningKeys(database, seal);
  const before = await mine.signing();
  await database.deleteFrom('signing_key').execute();
  const theirs = await loadSigningKeys(database, seal);
  const { kid } = await theirs.signing();
  t.not(kid, before.kid);
  t.equal(await mine.publicKey(kid), await theirs.publicKey(kid));
});

t.test('a token with an unknown key gets 503 while the database is unavailable, else 401', async (t) => {
  const { api, proxy } = await startBehindProxy(t);
  const token = await api.token();
  t.equal((await api.get('/menus', { token })).status, 200);
  const forged = (kid: string) => {
    const header = { alg: 'ES256', typ: 'at+jwt', kid };
    return [Buffer.from(JSON.stringify(header)).toString('base64url'), ...token.split('.').slice(1)].join(
      '.',
    );
  };
  const unknown = forged('k'.repeat(43));
  t.equal((await api.get('/menus', { token: unknown })).status, 401);
  for (const leave of [() => proxy.cut(), async () => proxy.silence()]) {
    await leave();
    const asked = performance.now();
    const response = await api.get('/menus', { token: unknown });
    t.match(response, {
      status: 503,
      headers: { 'retry-after': '1' },
      body: { code: 'service_unavailable' },
    });
    t.ok(performance.now() - asked < 5_000, `after ${performance.now() - asked} ms`);
    t.equal((await api.get('/menus', { token: forged('not one of ours') })).status, 401);
    const jwks = await send(api.url, 'GET', '/.well-known/jwks.json', {});
    t.match(jwks, { status: 200, body: { keys: [{ kty: 'EC' }] } }, 'what is known is still published');
    await proxy.restore();
    await eventually(
      'it is refused again',
      async () => (await api.get('/menus', { token: unknown })).status === 401,
    );
    t.equal((await api.get('/menus', { token })).status, 200);
  }
});

async function startSecond(t: Test, { connection }: TestService, key: Buffer): Promise<FastifyInstance> {
  const database = openDatabase(connection);
  const destination = createDestination({ allowedNetworks: [] });
  t.teardown(async () => {
    await destination.close();
    await database.destroy();
  });
  const app = await buildTestApp(database, destination, { encryptionKeys: [key] });
  t.teardown(() => app.close());
  return app;
}
