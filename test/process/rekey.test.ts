import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type pg from 'pg';
import t, { type Test } from 'tap';
import { launch } from '../../scripts/launch.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { createSeal } from '../../src/db/seal.ts';
import { admin, done } from '../support/admin.ts';
import { createApi } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { dataDirectory, environmentOf, root, runToEnd, startProcess } from '../support/process.ts';
import { startReceiver, subscribe, verify } from '../support/receiver.ts';
import {
  cloneDatabase,
  encryptionKey as oldKey,
  startTestService,
  type TestService,
} from '../support/service.ts';

t.setTimeout(120_000);

const newKey = Buffer.alloc(32, 'new');

t.test(
  'ENCRYPTION_KEY is replaced beside running services, and everything from before stays readable',
  async (t) => {
    const connection = await cloneDatabase(t);
    const first = await startTestService(t, { connection, encryptionKeys: [oldKey, newKey] });
    const receiver = await startReceiver(t);
    const { webhook_id, secret } = await subscribe(t, first.api, receiver);
    const token = await first.api.token();
    const call = await keyedCall(first);
    const created = await call(first);

    const second = await startTestService(t, { connection, encryptionKeys: [newKey, oldKey] });
    t.equal((await call(second)).text, created.text, 'the second opens what the first has sealed');
    const another = await keyedCall(first);
    t.equal((await another(second)).text, (await another(first)).text, 'and the reverse');

    const { key, rekeyed } = await rekey(t, connection, [newKey, oldKey]);
    t.equal(key, createSeal(newKey).keyIds[0]);
    t.same(rekeyed, { stored_responses: 1, webhook_secrets: 2, signing_keys: 1 });
    for (const service of [first, second]) t.equal((await call(service)).text, created.text, 'they go on');

    const last = await startTestService(t, { connection, encryptionKeys: [newKey] });
    t.equal((await last.api.get('/menus', { token })).status, 200);
    t.equal((await call(last)).text, created.text);
    const tested = await last.api.post(`/webhooks/${webhook_id}/test`, { type: 'item.toggled' });
    t.match(tested, { status: 200, body: { data: { delivered: true } } });
    const delivery = receiver.deliveries.at(-1);
    t.equal(delivery && verify(delivery, secret).id, delivery?.id, 'the secret is the same');
    t.match(
      await refusal(t, connection, [oldKey]),
      /: ENCRYPTION_KEY is not the key that this database was set up/,
    );
    t.same((await rekey(t, connection, [newKey])).rekeyed, none, 'there is nothing left to do');
  },
);

t.test('a rekey that was killed is finished by the next one, while calls write', async (t) => {
  const connection = await cloneDatabase(t);
  const database = openDatabase(connection);
  t.teardown(() => database.destroy());
  const stored = 3_000;
  await storeResponses(database, stored);
  const service = await startTestService(t, {
    connection,
    encryptionKeys: [newKey, oldKey],
    webhooksPerAccount: 100_000,
  });
  let isOver = false;
  const calling = (async () => {
    for (let calls = 0; ; calls++) {
      if (isOver) return calls;
      const call = await keyedCall(service);
      const first = await call(service);
      const repeat = await call(service);
      if (repeat.text !== first.text) throw new Error('a repeat differs');
    }
  })();

  const killed = launch(
    [process.execPath, 'scripts/admin.ts', 'rekey'],
    environment(connection, [newKey, oldKey]),
    {
      directory: root,
    },
  );
  t.teardown(() => killed.stop('SIGKILL', 'group'));
  await eventually('it is at work', async () => (await countStale(database)) < stored);
  await killed.stop('SIGKILL', 'group');
  const left = await countStale(database);
  t.ok(left > 0, `${left} are left`);
  t.equal(await countSealedByOldKey(database), 1, 'the signing key comes last');

  const { rekeyed } = await rekey(t, connection, [newKey, oldKey]);
  t.equal(rekeyed.stored_responses, left, 'what was done is passed over');
  t.equal(await countStale(database), 0);
  isOver = true;
  t.ok((await calling) > 0);
  const seal = createSeal(newKey);
  for (const { sealed_answer } of await database
    .selectFrom('idempotency_key')
    .select('sealed_answer')
    .execute())
    seal.openBytes(sealed_answer);
  t.equal(await countSealedByOldKey(database), 0);
});

t.test('a service that lacks the key of any sealed value does not start', async (t) => {
  const lost = createSeal(Buffer.alloc(32, 'lost'));
  const [id] = lost.keyIds;
  for (const isNaming of [true, false]) {
    lost.isNaming = isNaming;
    const connection = await cloneDatabase(t);
    const database = openDatabase(connection, { max: 1 });
    await sql`with webhook as (
      insert into webhook (account_id, url) values (1, 'https://example.com/') returning webhook_id, account_id
    ) insert into webhook_secret (webhook_id, account_id, sealed_secret)
      select webhook_id, account_id, ${lost.close('whsec_')} from webhook`.execute(database);
    await database.destroy();
    const by = isNaming ? `the key ${id}` : 'another key';
    const message = new RegExp(`a webhook secret was sealed with ${by}, and it holds [0-9a-f]{8}; if unset`);
    t.match(await refusal(t, connection, [oldKey]), message);
    const refused = await admin(t, environment(connection, [oldKey]), 'rekey');
    t.match(refused, { ended: 1, stdout: '', stderr: /^admin: ENCRYPTION_KEY is not [^\n]+\n$/ });
    t.match(refused.stderr, message);
  }
});

t.test(
  'a database of the release before has a day until its processes may meet what they cannot open',
  async (t) => {
    const connection = await cloneDatabase(t);
    const database = openDatabase(connection);
    t.teardown(() => database.destroy());
    await sql`update sealing set names_keys_from = now() + interval '1 day'`.execute(database);
    await sql`update signing_key set sealed_private_key = ${closeAsBefore(
      createSeal(oldKey).open(await signingKey(database)),
    )}`.execute(database);

    const service = await startTestService(t, { connection });
    const call = await keyedCall(service);
    const created = await call(service);
    const [stored] = await database.selectFrom('idempotency_key').selectAll().execute();
    if (!stored) throw new Error('nothing is stored');
    const { answer } = JSON.parse(openAsBefore(stored.sealed_answer));
    t.equal(JSON.stringify(JSON.parse(answer.body)), JSON.stringify(created.body), 'which reads a response');
    const { sealed_secret } = await database
      .selectFrom('webhook_secret')
      .selectAll()
      .executeTakeFirstOrThrow();
    t.match(openAsBefore(sealed_secret), /^whsec_/, 'and a webhook secret');

    const { kid } = await done(t, environment(connection, [oldKey]), 'rotate-signing-key');
    const rotated = database.selectFrom('signing_key').where('kid', '=', kid).selectAll();
    t.match(
      openAsBefore((await rotated.executeTakeFirstOrThrow()).sealed_private_key),
      'PRIVATE KEY',
      'and a new key',
    );

    const body = answer.body.replace('"description":""', '"description":"of the release before"');
    const sealed_answer = closeAsBefore(JSON.stringify({ answer: { ...answer, body } }));
    await database.updateTable('idempotency_key').set({ sealed_answer, bytes: null }).execute();
    const repeat = await call(service);
    t.match(
      repeat,
      { status: 201, body: { data: { description: 'of the release before' } } },
      'and the reverse',
    );
    t.equal(repeat.headers['idempotency-replayed'], 'true');

    await sql`update sealing set names_keys_from = now()`.execute(database);
    await eventually('values name their key', async () => {
      const call = await keyedCall(service);
      await call(service);
      return (await countStale(database, oldKey)) < (await countStored(database));
    });
    t.equal((await call(service)).text, repeat.text, 'what is there stays readable');
    const { rekeyed } = await rekey(t, connection, [oldKey]);
    t.match(rekeyed, { signing_keys: 2, stored_responses: Number });
    t.ok(rekeyed.webhook_secrets > 0, 'rekey gives all of it the new form');
    t.equal(await countStale(database, oldKey), 0);
  },
);

t.test('the keys that DATA_DIR holds are replaced in the same way', async (t) => {
  const env = { DATA_DIR: dataDirectory(t) };
  const file = join(env.DATA_DIR, 'encryption.key');
  const first = await startProcess(t, env);
  const [, client_id = '', client_secret = ''] = /(client_\w+):(mss_[\w-]+)/.exec(first.greeting) ?? [];
  const api = createApi(first.url, { client_id, client_secret, account_id: 1 });
  t.equal((await api.post('/webhooks', { url: 'http://198.51.100.7/' })).status, 422, 'it serves');
  const token = await api.token();
  await first.stop('SIGTERM');
  const before = readFileSync(file, 'utf8');
  const after = newKey.toString('base64');
  writeFileSync(file, `${after},${before}`);
  t.match(await done(t, env, 'list-clients'), [{ client_id }]);
  const outcome = await admin(t, env, 'rekey');
  t.match(JSON.parse(outcome.stdout), { key: createSeal(newKey).keyIds[0], rekeyed: { signing_keys: 1 } });
  writeFileSync(file, after);
  const second = await startProcess(t, env);
  const again = createApi(second.url, api.credentials);
  t.equal((await again.get('/menus', { token })).status, 200);
  t.equal((await again.get('/menus')).status, 200);

  await done(t, env, 'rotate-client-secret', client_id, '--overlap', '0');
  await second.stop('SIGTERM');
  const third = await startProcess(t, env);
  t.notMatch(third.greeting, client_secret, 'a demo secret that has ended is not shown again');
});

const none = { stored_responses: 0, webhook_secrets: 0, signing_keys: 0 };

/** Runs the command, which may tell its progress. */
async function rekey(t: Test, connection: pg.PoolConfig, keys: Buffer[]) {
  const outcome = await admin(t, environment(connection, keys), 'rekey');
  t.equal(outcome.ended, 0);
  t.match(outcome.stderr, /^(admin: rekey: (stored responses|webhook secrets|signing keys), \d+ done\n)*$/);
  return JSON.parse(outcome.stdout);
}

function environment(connection: pg.PoolConfig, keys: Buffer[]): Record<string, string> {
  const ENCRYPTION_KEY = keys.map((key) => key.toString('base64')).join(',');
  return { ...environmentOf(connection), ENCRYPTION_KEY };
}

async function refusal(t: Test, connection: pg.PoolConfig, keys: Buffer[]): Promise<string> {
  const outcome = await runToEnd(t, {
    PORT: '0',
    DATA_DIR: '/nonexistent',
    ...environment(connection, keys),
  });
  t.match(outcome, { ended: 1, stdout: '', stderr: /^menu-management-service: [^\n]+\n$/ });
  return outcome.stderr;
}

/** A call with a response that holds a secret; the same one however often it is made, and at whichever service. */
async function keyedCall({ api }: TestService) {
  const token = await api.token();
  const headers = { 'idempotency-key': randomUUID() };
  return ({ url }: TestService) =>
    createApi(url, api.credentials).post('/webhooks', { url: 'http://127.0.0.1:9/' }, { headers, token });
}

async function storeResponses(database: Database, count: number): Promise<void> {
  const sealed = createSeal(oldKey).close('{}');
  await sql`insert into idempotency_key (client_id, account_id, path, key, body_hash, sealed_answer, bytes)
    select 'client ' || n % 7, 1, '/', n::text, '', ${sealed}, ${sealed.length} from generate_series(1, ${count}) as n`.execute(
    database,
  );
}

async function countStored(database: Database): Promise<number> {
  return (await database.selectFrom('idempotency_key').select('key').execute()).length;
}

async function countStale(database: Database, key = newKey): Promise<number> {
  const { rows } = await sql`select from idempotency_key
    where substring(sealed_answer for 8) <> ${createSeal(key).head}`.execute(database);
  return rows.length;
}

async function countSealedByOldKey(database: Database): Promise<number> {
  const { rows } = await sql`select from signing_key
    where substring(sealed_private_key for 8) = ${createSeal(oldKey).head}`.execute(database);
  return rows.length;
}

async function signingKey(database: Database): Promise<Buffer> {
  const row = await database.selectFrom('signing_key').selectAll().executeTakeFirstOrThrow();
  return row.sealed_private_key;
}

// As the release before did it: nonce (12 bytes), tag (16 bytes), ciphertext.
function closeAsBefore(secret: string): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', oldKey, nonce);
  const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), text]);
}

function openAsBefore(sealed: Buffer): string {
  const decipher = createDecipheriv('aes-256-gcm', oldKey, sealed.subarray(0, 12));
  decipher.setAuthTag(sealed.subarray(12, 28));
  return decipher.update(sealed.subarray(28), undefined, 'utf8') + decipher.final('utf8');
}
