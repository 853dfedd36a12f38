import { CompiledQuery, sql } from 'kysely';
import t, { type Test } from 'tap';
import { type Database, openDatabase, patient, poolUse, shareOf } from '../../src/db/database.ts';
import { ShareTaken } from '../../src/db/unavailable.ts';
import { eventually } from '../support/eventually.ts';
import { cloneDatabase } from '../support/service.ts';

const connection = await cloneDatabase(t);

function open(t: Test, limits: { query_timeout?: number; statement_timeout?: number }, max = 1): Database {
  const database = openDatabase({ ...connection, ...limits }, { max });
  t.teardown(() => database.destroy());
  return database;
}

async function backend(database: Database): Promise<number> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(database);
  return rows[0]?.pid ?? 0;
}

const givenUp = { message: /given up/ };
const sleep = (database: Database, seconds: number) => sql`select pg_sleep(${seconds})`.execute(database);

t.test('a connection that is returned within a transaction is not used again', async (t) => {
  const database = open(t, {});
  const before = await backend(database);
  for (const left of ['begin', 'select 1 / 0']) {
    await database
      .connection()
      .execute(async (connection) => {
        await connection.executeQuery(CompiledQuery.raw('begin'));
        await connection.executeQuery(CompiledQuery.raw(left));
      })
      .catch(() => {});
    const after = await backend(database);
    t.not(after, before);
    const { rows } = await sql<{ alone: boolean }>`select now() = statement_timestamp() as alone`.execute(
      database,
    );
    t.strictSame(rows, [{ alone: true }], 'outside a transaction');
  }
  t.equal(poolUse(database).discards.unclean, 2);
  t.equal(await backend(database), await backend(database), 'others are kept');
});

t.test('a statement that says nothing for too long is given up, with its connection', async (t) => {
  const database = open(t, { query_timeout: 300 });
  const before = await backend(database);
  await t.rejects(sleep(database, 2), givenUp);
  t.not(await backend(database), before);
  await t.rejects(
    database.transaction().execute((transaction) => sleep(transaction, 2)),
    /given up|not queryable/,
  );
  t.equal((await sql`select 1`.execute(database)).rows.length, 1);
  t.equal(poolUse(database).discards.silent, 2);
});

t.test('the wait for a connection and its first statement share one bound', async (t) => {
  const database = open(t, { query_timeout: 1_500 });
  const start = performance.now();
  await Promise.all([sleep(database, 1.2), t.rejects(sleep(database, 5), givenUp)]);
  t.ok(performance.now() - start < 2_400);
});

t.test(
  'a statement that waits for others of its client has all of its time, and nothing is given up',
  async (t) => {
    const database = open(t, { query_timeout: 1_000 }, 2);
    const share = shareOf(database, 'client');
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => sleep(share, 0.7)));
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    t.ok(refused.length < 3, 'four follow each other within three seconds');
    for (const reason of refused) t.ok(reason instanceof ShareTaken);
    t.equal(poolUse(database).discards.silent, 0);
  },
);

t.test('however many clients there are, each has one share while it uses it', async (t) => {
  const database = open(t, {}, 2);
  const first = shareOf(database, 'first');
  const asleep = sleep(first, 0.5);
  await eventually('it is in use', async () => poolUse(database).busy > 0);
  const idle = shareOf(database, 'idle');
  for (let number = 0; number < 10_000; number += 1) shareOf(database, `${number}`);
  t.equal(shareOf(database, 'first'), first);
  t.not(shareOf(database, 'idle'), idle, 'those of others are forgotten');
  await asleep;
});

t.test('connections that were heard from meanwhile are kept', async (t) => {
  const database = open(t, { query_timeout: 600 }, 2);
  const slow = t.rejects(sleep(database, 2), givenUp);
  const quick = await backend(database);
  let given = false;
  slow.then(() => {
    given = true;
  });
  await eventually('the slow one is given up', async () => {
    t.equal(await backend(database), quick);
    return given;
  });
  t.equal(await backend(database), quick);
});

t.test('patient work is ended by the server, and only its begin is held to less', async (t) => {
  const database = open(t, { query_timeout: 300, statement_timeout: 1_000 });
  const long = patient(database);
  await sleep(long, 0.7);
  await long.transaction().execute((transaction) => sleep(transaction, 0.7));
  await t.rejects(sleep(long, 3), { code: '57014' });
  await t.rejects(sleep(database, 0.7), givenUp, 'others go on as before');
});

t.test('responses that came while the process did not run are read first', async (t) => {
  const database = open(t, { query_timeout: 300 });
  await backend(database);
  const asked = sleep(database, 0.05);
  await new Promise((resolve) => setTimeout(resolve, 20));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
  t.equal((await asked).rows.length, 1);
  t.equal(poolUse(database).discards.silent, 0);
});
