import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import t from 'tap';
import { createSeal } from '../../src/db/seal.ts';
import { closeResponse, openResponse } from '../../src/http/stored-response.ts';
import { eventually } from '../support/eventually.ts';
import { makeItem, makeTree } from '../support/records.ts';
import { encryptionKey, startTestService } from '../support/service.ts';

const toggle = '/menus/1/items/1/toggle';

t.test('a client has a limit of keys in 24 hours; calls beyond it are refused and do nothing', async (t) => {
  const service = await startTestService(t, { keptResponses: { keys: 3, megabytes: 100 } });
  const { api, database } = service;
  const used = [withKey(), withKey(), withKey()];
  const responses = [];
  for (const headers of used) responses.push(await api.post(toggle, undefined, { headers }));
  const before = (await api.get('/menus/1/items/1')).body.data;

  const headers = withKey();
  const refused = await api.post(toggle, undefined, { headers });
  t.match(refused, { status: 429, body: { title: 'Too Many Requests', code: 'idempotency_keys_exhausted' } });
  const retryAfter = Number(refused.headers['retry-after']);
  t.ok(retryAfter > 86_000 && retryAfter <= 86_400, `${retryAfter}`);
  t.strictSame((await api.get('/menus/1/items/1')).body.data, before);

  for (const [index, headers] of used.entries()) {
    const repeat = await api.post(toggle, undefined, { headers });
    t.equal(repeat.text, responses[index]?.text, 'a repeat still gets its response');
    t.equal(repeat.headers['idempotency-replayed'], 'true');
  }
  t.equal((await api.post(toggle)).status, 200, 'a call without a key is no matter of this');
  const another = await service.client();
  t.equal(
    (await another.post(toggle, undefined, { headers: withKey() })).status,
    200,
    'nor is another client',
  );

  const elsewhere = await startTestService(t, {
    connection: service.connection,
    keptResponses: { keys: 3, megabytes: 100 },
  });
  const token = await api.token();
  const there = await elsewhere.api.post(toggle, undefined, { headers: withKey(), token });
  t.equal(there.status, 429, 'another process counts the same');

  await sql`update idempotency_key set created_at = now() - interval '24 hours'
    where key = ${used[0]?.['idempotency-key']}`.execute(database);
  const done = await eventually('there is room again', async () => {
    const response = await api.post(toggle, undefined, { headers });
    return response.status === 200 && response;
  });
  t.equal(done.headers['idempotency-replayed'], undefined);
});

t.test('the stored responses of a client have a limit in total', async (t) => {
  const { api, database } = await startTestService(t, { keptResponses: { keys: 100, megabytes: 0.002 } });
  let stored = 0;
  for (;;) {
    const { status } = await api.post(toggle, undefined, { headers: withKey() });
    if (status === 429) break;
    stored += 1;
  }
  const { rows } = await sql<{ size: number; bytes: number }>`
    select sum(octet_length(sealed_answer)) as size, sum(bytes) as bytes from idempotency_key`.execute(
    database,
  );
  const [{ size, bytes } = { size: 0, bytes: 0 }] = rows;
  t.equal(bytes, size);
  t.ok(size >= 0.002 * 1024 * 1024 && size < 0.002 * 1024 * 1024 + size / stored + 1, `${size} in ${stored}`);
});

t.test(
  'the response to a call on 500 items is stored in a tenth of its size, and repeated as it was',
  async (t) => {
    const { api, database } = await startTestService(t);
    const { menu, category } = await makeTree(api);
    const items = [];
    for (let made = 0; made < 500; made += 50) {
      const batch = Array.from({ length: 50 }, (_, n) =>
        makeItem(api, category, { name: `サーモン ${made + n}`, external_id: `NG-${made + n}` }),
      );
      items.push(...(await Promise.all(batch)));
    }
    const body = { items: items.map(({ item_id }) => ({ item_id, is_available: false })) };
    const headers = withKey();
    const first = await api.post(`/menus/${menu.menu_id}/availability`, body, { headers });
    const [stored] = await database.selectFrom('idempotency_key').selectAll().execute();
    const size = stored?.sealed_answer.length ?? 0;
    t.ok(
      size > 0 && size < Buffer.byteLength(first.text) / 10,
      `${size} of ${Buffer.byteLength(first.text)}`,
    );
    const repeat = await api.post(`/menus/${menu.menu_id}/availability`, body, { headers });
    t.equal(repeat.headers['idempotency-replayed'], 'true');
    t.equal(repeat.text, first.text);
  },
);

t.test('a response is stored and read the same at every size', async (t) => {
  const seal = createSeal(encryptionKey);
  for (const length of [0, 1, 900, 1_000, 1_023, 1_024, 1_025, 100_000, 3_000_000]) {
    const response = {
      status: 200,
      headers: { ETag: '"1"' },
      mediaType: 'text/csv',
      body: 'é'.repeat(length),
    };
    const opened = await openResponse(seal, await closeResponse(seal, response));
    t.strictSame(opened, { ...response, headers: { ETag: '"1"', 'Idempotency-Replayed': 'true' } });
  }
});

function withKey(): { 'idempotency-key': string } {
  return { 'idempotency-key': randomUUID() };
}
