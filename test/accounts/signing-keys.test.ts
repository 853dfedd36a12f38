import type { FastifyInstance } from 'fastify';
import t, { type Test } from 'tap';
import { loadSigningKeys } from '../../src/accounts/signing-keys.ts';
import { openDatabase } from '../../src/db/database.ts';
import { createSeal } from '../../src/db/seal.ts';
import { createDestination } from '../../src/webhooks/delivery/destination.ts';
import { send } from '../support/api.ts';
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
  t.equal(new Set(loaded.map(({ current }) => current.kid)).size, 1);
  t.equal((await database.selectFrom('signing_key').select('kid').execute()).length, 1);
});

t.test('a key that another process made since is found', async (t) => {
  const { database } = await startTestService(t);
  const seal = createSeal(encryptionKey);
  const mine = await loadSigningKeys(database, seal);
  await database.deleteFrom('signing_key').execute();
  const theirs = await loadSigningKeys(database, seal);
  t.not(theirs.current.kid, mine.current.kid);
  const found = await eventually('it is found', () => mine.publicKey(theirs.current.kid));
  t.equal(found, await theirs.publicKey(theirs.current.kid));
});

async function startSecond(t: Test, { connection }: TestService, key: Buffer): Promise<FastifyInstance> {
  const database = openDatabase(connection);
  const destination = createDestination({ allowedNetworks: [] });
  t.teardown(async () => {
    await destination.close();
    await database.destroy();
  });
  const app = await buildTestApp(database, destination, { encryptionKey: key });
  t.teardown(() => app.close());
  return app;
}
