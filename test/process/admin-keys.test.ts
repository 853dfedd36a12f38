import { setTimeout as sleep } from 'node:timers/promises';
import { decodeProtectedHeader } from 'jose';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { keepSigningKeysFresh } from '../../src/accounts/rotate-signing-key.ts';
import { WatchedClient } from '../../src/db/client.ts';
import type { Database } from '../../src/db/database.ts';
import { createSeal } from '../../src/db/seal.ts';
import { done } from '../support/admin.ts';
import { createApi, send } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { environmentOf } from '../support/process.ts';
import { encryptionKey, startTestService, type TestService } from '../support/service.ts';

t.setTimeout(120_000);

t.test(
  'a new key is published first, signs after ten minutes, and takes over from the one before',
  async (t) => {
    const service = await startTestService(t);
    const { api, database } = service;
    const old = await api.token();
    const rotated = await rotate(t, service);
    const inMinutes = (new Date(rotated.signs_from).getTime() - Date.now()) / 60_000;
    t.ok(inMinutes > 9 && inMinutes <= 10, `${inMinutes}`);
    await eventually('it is published', async () => (await published(service)).includes(rotated.kid));
    t.equal(kidOf(await newToken(service)), kidOf(old), 'the one before still signs');

    await passTime(database, '10 minutes');
    const token = await tokenOf(service, rotated.kid);
    t.equal((await api.get('/menus', { token })).status, 200);
    t.equal((await api.get('/menus', { token: old })).status, 200, 'a token of the past stays valid');
    t.same(await published(service), [rotated.kid, kidOf(old)]);
  },
);

t.test('the previous key is removed a day after it last signed, and no sooner', async (t) => {
  const service = await startTestService(t);
  const { api, database } = service;
  const old = await api.token();
  await rotate(t, service);
  const clean = () => keepSigningKeysFresh(database, createSeal(encryptionKey), 90);
  await passTime(database, '24 hours 9 minutes');
  await clean();
  t.equal(await countKeys(database), 2);
  t.equal((await api.get('/menus', { token: old })).status, 200);
  await passTime(database, '2 minutes');
  await clean();
  t.equal(await countKeys(database), 1);
  await eventually('it is refused', async () => (await api.get('/menus', { token: old })).status === 401);
  t.equal((await published(service)).length, 1);
  t.equal((await api.get('/menus', { token: await newToken(service) })).status, 200);
});

t.test('--revoke makes the new key sign at once and ends every token', async (t) => {
  const service = await startTestService(t);
  const second = await startTestService(t, { connection: service.connection });
  const old = await service.api.token();
  t.equal((await second.api.get('/menus', { token: old })).status, 200);
  const { kid } = await rotate(t, service, '--revoke');
  for (const { api } of [service, second])
    await eventually(
      'the token is refused',
      async () => (await api.get('/menus', { token: old })).status === 401,
    );
  const token = await tokenOf(service, kid);
  t.equal(
    (await second.api.get('/menus', { token })).status,
    200,
    'another process knows the new one at once',
  );
  t.same(await published(second), [kid]);
});

t.test('a worker replaces a key that is old; of many workers only one does', async (t) => {
  const service = await startTestService(t);
  const { database } = service;
  await passTime(database, '29 days');
  const seal = createSeal(encryptionKey);
  const all = () => Promise.all(Array.from({ length: 8 }, () => keepSigningKeysFresh(database, seal, 30)));
  await all();
  t.equal(await countKeys(database), 1, 'not before its time');
  await passTime(database, '1 day');
  await all();
  t.equal(await countKeys(database), 2);
  await all();
  t.equal(await countKeys(database), 2, 'nor a second time');

  const aged = await startTestService(t);
  await passTime(aged.database, '90 days');
  await startTestService(t, { connection: aged.connection, worker: {} });
  await eventually('a worker has seen it', async () => (await countKeys(aged.database)) === 2);
});

t.test(
  'however many tokens have a key that nobody knows, they share a look-up in half a second',
  async (t) => {
    const { api } = await startTestService(t);
    const token = await api.token();
    t.equal((await api.get('/menus', { token })).status, 200);
    const lookUps = t.capture(WatchedClient.prototype, 'query', WatchedClient.prototype.query);
    const begun = performance.now();
    const rounds = 4;
    for (let round = 0; round < rounds; round++) {
      const forged = Array.from({ length: 20 }, () => withKid(token, randomKid()));
      const responses = await Promise.all(forged.map((token) => api.get('/menus', { token })));
      for (const { status } of responses) t.ok([401, 429].includes(status), `${status}`);
      t.equal((await api.get('/menus', { token })).status, 200, 'a good token goes on');
    }
    const seconds = (performance.now() - begun) / 1_000;
    const reads = lookUps().filter(({ args: [text] }) => `${text}`.includes('from signing_key'));
    t.ok(reads.length >= 1 && reads.length <= 2 * seconds + 1, `${reads.length} in ${seconds} s`);
  },
);

t.test('a key that was added a moment after a look-up is found by the next token', async (t) => {
  const service = await startTestService(t);
  const second = await startTestService(t, { connection: service.connection });
  const old = await service.api.token();
  const { api } = second;
  t.equal((await api.get('/menus', { token: withKid(old, randomKid()) })).status, 401, 'this looked it up');
  const { kid } = await rotate(t, service, '--revoke');
  const token = await tokenOf(service, kid);
  t.equal((await api.get('/menus', { token: withKid(old, randomKid()) })).status, 401, 'as did this');
  t.equal((await api.get('/menus', { token })).status, 200);
});

async function rotate(t: Test, { connection }: TestService, ...options: string[]) {
  const rotated = await done(t, environmentOf(connection), 'rotate-signing-key', ...options);
  t.same(Object.keys(rotated), ['kid', 'signs_from']);
  return rotated;
}

/** The ids in the JWK Set, newest first. */
async function published({ url }: TestService): Promise<string[]> {
  const { status, body } = await send(url, 'GET', '/.well-known/jwks.json', {});
  if (status !== 200) throw new Error(`status ${status}`);
  return body.keys.map(({ kid }: { kid: string }) => kid);
}

/** Waits until this key signs; slowly, since tokens have a quota. */
function tokenOf(service: TestService, kid: string): Promise<string> {
  return eventually(`${kid} signs`, async () => {
    await sleep(200);
    const token = await newToken(service);
    return kidOf(token) === kid && token;
  });
}

function newToken({ url, api }: TestService): Promise<string> {
  return createApi(url, api.credentials).token();
}

function kidOf(token: string): string | undefined {
  return decodeProtectedHeader(token).kid;
}

function withKid(token: string, kid: string): string {
  const header = Buffer.from(JSON.stringify({ ...decodeProtectedHeader(token), kid })).toString('base64url');
  return [header, ...token.split('.').slice(1)].join('.');
}

function randomKid(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url');
}

/** As if everything about the keys had happened that much earlier. */
async function passTime(database: Database, interval: string): Promise<void> {
  await sql`update signing_key set created_at = created_at - ${interval}::interval,
    signs_from = signs_from - ${interval}::interval`.execute(database);
}

async function countKeys(database: Database): Promise<number> {
  return (await database.selectFrom('signing_key').select('kid').execute()).length;
}
