import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { startTestService } from '../support/service.ts';
import { callWith, exampleCalls, existingRecords } from './example-calls.ts';

const keyedCalls = exampleCalls.filter(({ headers }) => headers.includes('idempotency-key'));

t.test('every POST that takes a token and writes takes an Idempotency-Key', async (t) => {
  const posts = exampleCalls.filter(
    ({ method, security, writes }) => method === 'POST' && security.length > 0 && writes,
  );
  t.strictSame(
    keyedCalls.map(({ id }) => id),
    posts.map(({ id }) => id),
  );
});

t.test('an invalid key is refused with 400', async (t) => {
  const service = await startTestService(t);
  const ids = await existingRecords(service);
  for (const call of keyedCalls) {
    for (const key of ['', 'x'.repeat(129), 'caf\u00e9', 'tab\there']) {
      const response = await callWith(service.api, call, ids, { 'idempotency-key': key });
      t.equal(response.status, 400, `${call.id} ${JSON.stringify(key).slice(0, 20)}`);
    }
  }
});

t.test('every keyed call gets 409 while the first with its key is in progress', async (t) => {
  const service = await startTestService(t);
  const { api, database } = service;
  const ids = await existingRecords(service);
  const tables = sql.raw('location, menu, category, item, webhook, event, delivery');
  for (const call of keyedCalls) {
    const key = { 'idempotency-key': randomUUID(), 'x-request-id': 'the-same' };
    const first = await database.transaction().execute(async (transaction) => {
      await sql`lock table ${tables} in access exclusive mode`.execute(transaction);
      const response = callWith(api, call, ids, key);
      await eventually(`${call.id} waits for its tables`, async () => {
        const { rows } = await sql`select from pg_stat_activity
          where wait_event_type = 'Lock' and datname = current_database()`.execute(database);
        return rows.length > 0;
      });
      const repeat = await callWith(api, call, ids, key);
      t.match(repeat, { status: 409, body: { code: 'idempotency_conflict' } }, call.id);
      return { response };
    });
    const { status, text } = await first.response;
    const repeat = await callWith(api, call, ids, key);
    t.strictSame([repeat.status, repeat.text], [status, text], `${call.id}: later it gets the first answer`);
    t.equal(repeat.headers['idempotency-replayed'], 'true');
  }
});
