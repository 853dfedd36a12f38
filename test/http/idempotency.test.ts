import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { CompiledQuery, sql } from 'kysely';
import t from 'tap';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { removeOldKeys } from '../../src/http/idempotency.ts';
import { createDestination } from '../../src/webhooks/delivery/destination.ts';
import { createApi } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { buildTestApp, startTestService } from '../support/service.ts';

t.test('with one Idempotency-Key a call takes effect once', async (t) => {
  const { api, database, client } = await startTestService(t);
  const [item, other] = (await api.get('/menus/1/items')).body.data;
  const togglePath = `/menus/1/items/${item.item_id}/toggle`;
  const webhook = { url: 'https://hooks.example.com/in' };
  const events = () => countOf(database, 'event');

  t.test('a repeat gets the first response and does nothing', async (t) => {
    const before = (await api.get(`/menus/1/items/${item.item_id}`)).body.data;
    const recorded = await events();
    const headers = withKey();
    const first = await api.post(togglePath, undefined, { headers });
    const repeat = await api.post(togglePath, undefined, { headers });
    t.equal(first.headers['idempotency-replayed'], undefined);
    t.equal(repeat.headers['idempotency-replayed'], 'true');
    t.equal(repeat.text, first.text);
    t.equal(repeat.headers['etag'], first.headers['etag']);
    t.equal(first.body.data.is_available, !before.is_available);
    t.strictSame((await api.get(`/menus/1/items/${item.item_id}`)).body.data, first.body.data);
    t.equal(await events(), recorded + 1);
  });

  t.test('a repeated create returns the same record, and its secret is encrypted until then', async (t) => {
    const headers = withKey();
    const first = await api.post('/webhooks', webhook, { headers });
    const repeat = await api.post('/webhooks', webhook, { headers });
    t.equal(repeat.status, 201);
    t.equal(repeat.text, first.text);
    t.equal(repeat.headers['location'], first.headers['location']);
    t.equal(repeat.headers['etag'], first.headers['etag']);
    t.equal(await countOf(database, 'webhook'), 1);
    const kept = await database.selectFrom('idempotency_key').select('sealed_answer').execute();
    t.ok(kept.length > 0);
    for (const { sealed_answer } of kept) t.notOk(sealed_answer.includes('whsec_'));
  });

  t.test('ten at once flip once and fire one event', async (t) => {
    const before = (await api.get(`/menus/1/items/${item.item_id}`)).body.data;
    const recorded = await events();
    const headers = withKey();
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => api.post(togglePath, undefined, { headers })),
    );
    const done = responses.filter(({ status }) => status === 200);
    t.equal(done.filter((response) => !response.headers['idempotency-replayed']).length, 1);
    t.equal(new Set(done.map(({ text }) => text)).size, 1);
    for (const { status } of responses) t.ok([200, 409].includes(status));
    const after = (await api.get(`/menus/1/items/${item.item_id}`)).body.data;
    t.equal(after.is_available, !before.is_available);
    t.equal(after.version, before.version + 1);
    t.equal(await events(), recorded + 1);
  });

  t.test('a repeat while the first is in progress gets 409', async (t) => {
    const headers = withKey();
    let first: ReturnType<typeof api.post> | undefined;
    await database.transaction().execute(async (transaction) => {
      await sql`select from item where item_id = ${item.item_id} for update`.execute(transaction);
      first = api.post(togglePath, undefined, { headers });
      await untilOneWaits(database);
      const repeat = await api.post(togglePath, undefined, { headers });
      t.equal(repeat.status, 409);
      t.equal(repeat.body.code, 'idempotency_conflict');
      const another = await api.post(`/menus/1/items/${other.item_id}/toggle`, undefined, { headers });
      t.equal(another.status, 200, 'the same key on another path waits for nothing');
    });
    t.equal((await first)?.status, 200);
    t.equal((await api.post(togglePath, undefined, { headers })).headers['idempotency-replayed'], 'true');
    const create = withKey();
    await database.transaction().execute(async (transaction) => {
      await sql`lock table webhook in exclusive mode`.execute(transaction);
      first = api.post('/webhooks', webhook, { headers: create });
      await untilOneWaits(database);
      t.equal((await api.post('/webhooks', webhook, { headers: create })).status, 409);
    });
    t.equal((await first)?.status, 201);
  });

  t.test('the same key with another body gets 422', async (t) => {
    const headers = withKey();
    t.equal((await api.post('/webhooks', webhook, { headers })).status, 201);
    const made = await countOf(database, 'webhook');
    const response = await api.post('/webhooks', { ...webhook, description: 'another' }, { headers });
    t.equal(response.status, 422);
    t.match(response.body.errors, [{ field: 'idempotency-key', code: 'reused' }]);
    t.equal(await countOf(database, 'webhook'), made);
    const spaced = await api.post('/webhooks', undefined, {
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(webhook, null, 2),
    });
    t.equal(spaced.headers['idempotency-replayed'], 'true', 'the layout of the JSON does not count');
  });

  t.test('a key belongs to its client', async (t) => {
    const headers = withKey();
    const another = await client();
    const first = await api.post(togglePath, undefined, { headers });
    const second = await another.post(togglePath, undefined, { headers });
    t.equal(second.headers['idempotency-replayed'], undefined);
    t.equal(second.body.data.is_available, !first.body.data.is_available);
  });

  t.test('a refusal by the operation is stored, even if the database caused it', async (t) => {
    const headers = withKey();
    const item_id = 900_000;
    const path = `/menus/1/items/${item_id}/toggle`;
    t.equal((await api.post(path, undefined, { headers })).status, 404);
    await sql`insert into item (item_id, account_id, location_id, menu_id, category_id, name, price, sort_order)
      overriding system value
      select ${item_id}, account_id, location_id, menu_id, category_id, 'Late', 1, 999
      from item where item_id = ${item.item_id}`.execute(database);
    const repeat = await api.post(path, undefined, { headers });
    t.equal(repeat.status, 404);
    t.equal(repeat.headers['idempotency-replayed'], 'true');
    t.equal(repeat.body.request_id, repeat.headers['x-request-id']);
    t.equal((await api.post(path, undefined, { headers: withKey() })).status, 200);

    await failing(
      database,
      'item',
      `raise exception using errcode = 'check_violation', constraint = 'item_external_id'`,
    );
    const refused = withKey();
    const dish = { category_id: 1, name: 'Refused', price: 1 };
    const first = await api.post('/menus/1/items', dish, { headers: refused });
    t.equal(first.status, 422);
    await working(database, 'item');
    const again = await api.post('/menus/1/items', dish, { headers: refused });
    t.equal(again.status, 422);
    t.strictSame(again.body.errors, first.body.errors);
    t.equal(again.headers['idempotency-replayed'], 'true');
  });

  t.test('a refusal from before the operation began is not stored', async (t) => {
    const headers = withKey();
    t.equal((await api.post('/webhooks', { url: 5 }, { headers })).status, 422);
    t.equal((await api.post('/webhooks', webhook, { headers })).status, 201);
    const reader = await client({ scopes: ['menus:read'] });
    t.equal((await reader.post(togglePath, undefined, { headers })).status, 403);
    t.equal(
      (await reader.post(togglePath, undefined, { headers })).headers['idempotency-replayed'],
      undefined,
    );
  });

  t.test('a response that asks for another attempt is not stored', async (t) => {
    const { webhook_id } = (await api.post('/webhooks', webhook)).body.data;
    const path = `/webhooks/${webhook_id}/replay`;
    const since = { since: '2026-01-01T00:00:00Z' };
    t.equal((await api.post(path, since)).status, 202);
    const headers = withKey();
    t.equal((await api.post(path, since, { headers })).status, 409, 'the first is still being queued');
    await database.deleteFrom('replay').execute();
    t.equal((await api.post(path, since, { headers })).status, 202);
  });

  t.test('a key has 1 to 128 characters', async (t) => {
    const longest = { 'idempotency-key': 'k'.repeat(128) };
    t.equal((await api.post('/webhooks', webhook, { headers: longest })).status, 201);
    for (const key of ['', 'k'.repeat(129), 'clé']) {
      const headers = { 'idempotency-key': key };
      const refused = { status: 400, body: { code: 'bad_request', detail: /^idempotency-key / } };
      t.match(await api.post('/webhooks', webhook, { headers }), refused);
      t.match(await api.post('/webhooks', { url: 5 }, { headers }), refused, 'whatever else is wrong');
      t.match(await api.post(togglePath, undefined, { headers }), refused);
    }
  });

  t.test('a crash between the change and its response leaves neither', async (t) => {
    const before = (await api.get(`/menus/1/items/${item.item_id}`)).body.data;
    const recorded = await events();
    const headers = withKey();
    await failing(database, 'idempotency_key', 'perform pg_terminate_backend(pg_backend_pid())');
    t.equal((await api.post(togglePath, undefined, { headers })).status, 503);
    t.strictSame((await api.get(`/menus/1/items/${item.item_id}`)).body.data, before);
    t.equal(await events(), recorded);
    await working(database, 'idempotency_key');
    const repeat = await api.post(togglePath, undefined, { headers });
    t.equal(repeat.status, 200);
    t.equal(repeat.headers['idempotency-replayed'], undefined);
    t.equal(repeat.body.data.is_available, !before.is_available);
    t.equal(await events(), recorded + 1);
  });

  t.test('after 24 hours a key is new again, and the old ones are removed in batches', async (t) => {
    const headers = withKey();
    const first = await api.post(togglePath, undefined, { headers });
    await sql`update idempotency_key set created_at = now() - interval '23 hours 59 minutes'`.execute(
      database,
    );
    t.equal((await api.post(togglePath, undefined, { headers })).headers['idempotency-replayed'], 'true');
    await sql`update idempotency_key set created_at = now() - interval '24 hours'`.execute(database);
    const second = await api.post(togglePath, undefined, { headers });
    t.equal(second.headers['idempotency-replayed'], undefined);
    t.equal(second.body.data.is_available, !first.body.data.is_available);

    const kept = await countOf(database, 'idempotency_key');
    t.equal(await removeOldKeys(database, 3), 3);
    t.equal(await removeOldKeys(database), kept - 4);
    t.equal(await removeOldKeys(database), 0);
    t.equal((await api.post(togglePath, undefined, { headers })).headers['idempotency-replayed'], 'true');
  });
});

t.test('a key survives a restart, and the relay hears of an event once it is committed', async (t) => {
  const { api, database, connection: _, client } = await startTestService(t);
  const { credentials } = await client();
  const headers = withKey();
  const path = '/menus/1/items/1/toggle';
  const seen: Promise<number>[] = [];
  const responses = [];
  for (let start = 0; start < 2; start++) {
    const destination = createDestination({ allowedNetworks: [] });
    const app = await buildTestApp(database, destination, {
      afterWrite: () => void seen.push(countOf(database, 'event')),
    });
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    responses.push(await createApi(url, credentials).post(path, undefined, { headers }));
    await app.close();
    await destination.close();
  }
  t.equal(responses[1]?.headers['idempotency-replayed'], 'true');
  t.equal(responses[1]?.text, responses[0]?.text);
  t.strictSame(await Promise.all(seen), [1]);
  t.strictSame((await api.get('/menus/1/items/1')).body, responses[0]?.body);
});

t.test('the worker removes the keys that are too old', async (t) => {
  const { database } = await startTestService(t, {
    worker: {},
    connect: async (connection) => {
      const before = openDatabase(connection, { max: 1 });
      await sql`insert into idempotency_key (client_id, account_id, path, key, body_hash, sealed_answer, created_at)
        select 'client', 1, '/', 'key ' || age, '', '', now() - age * interval '1 hour'
        from generate_series(20, 30) as age`.execute(before);
      await before.destroy();
      return connection;
    },
  });
  await eventually('four are left', async () => (await countOf(database, 'idempotency_key')) === 4);
});

function withKey(): { 'idempotency-key': string } {
  return { 'idempotency-key': randomUUID() };
}

async function countOf(database: Database, table: 'event' | 'webhook' | 'idempotency_key'): Promise<number> {
  const rows = await database.selectFrom(table).select('account_id').execute();
  return rows.length;
}

async function untilOneWaits(database: Database): Promise<void> {
  for (;;) {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
      database,
    );
    if (rows.length > 0) return;
    await sleep(5);
  }
}

/** Every insert into the table fails by `fault` until `working` is called. */
async function failing(database: Database, table: string, fault: string): Promise<void> {
  await database.executeQuery(
    CompiledQuery.raw(`create function fail() returns trigger language plpgsql as $$begin ${fault}; return new; end$$;
      create trigger fail before insert on ${table} for each row execute function fail()`),
  );
}

async function working(database: Database, table: string): Promise<void> {
  await database.executeQuery(CompiledQuery.raw(`drop trigger fail on ${table}; drop function fail()`));
}
