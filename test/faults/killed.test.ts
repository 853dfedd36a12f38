import { sql } from 'kysely';
import t from 'tap';
import { storedAttempts } from '../support/deliveries.ts';
import { eventually, settled } from '../support/eventually.ts';
import { someItems } from '../support/menus.ts';
import { startReceiver, subscribe, verify } from '../support/receiver.ts';
import { startTestService } from '../support/service.ts';
import { said, startServiceProcess, startWorkerProcess } from './processes.ts';

t.test('kill -9 between the write and the relay: the next process relays it', async (t) => {
  const { api, connection } = await startTestService(t);
  const receiver = await startReceiver(t);
  const { secret } = await subscribe(t, api, receiver);
  const [{ path }] = await someItems(api, 1);
  const service = startServiceProcess(t, connection, { ROLE: 'api' });
  const url = await service.address();
  const toggled = await fetch(`${url}/api/v1${path}/toggle`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await api.token()}` },
  });
  t.equal(toggled.status, 200);
  await service.kill();
  t.same(receiver.deliveries, []);

  startServiceProcess(t, connection, { ROLE: 'worker' });
  const [delivery] = await receiver.until(1);
  t.ok(delivery && verify(delivery, secret));
});

t.test('kill -9 between claim and send: another takes over when the lease runs out', async (t) => {
  const { api, connection, database } = await startTestService(t);
  const receiver = await startReceiver(t);
  await subscribe(t, api, receiver);
  const [{ path }] = await someItems(api, 1);
  const doomed = await startWorkerProcess(t, connection, { neverSend: true });
  const claimed = said(doomed.child, 'claimed');
  await api.post(`${path}/toggle`);
  await claimed;
  await doomed.kill();
  await startWorkerProcess(t, connection);
  await settled(database);
  t.equal(receiver.deliveries.length, 1);
});

t.test('kill -9 while the receiver is at work: it is sent again, same id and bytes, in order', async (t) => {
  const { api, connection, database } = await startTestService(t);
  const doomed = await startWorkerProcess(t, connection);
  const receiver = await startReceiver(t, async () => {
    await doomed.kill();
    return 204;
  });
  const { secret } = await subscribe(t, api, receiver);
  const [{ path }] = await someItems(api, 1);
  await api.post(`${path}/toggle`);
  await api.post(`${path}/toggle`);
  await receiver.until(1);
  await doomed.kill();
  await startWorkerProcess(t, connection);
  await settled(database);
  const [first, again, second] = receiver.deliveries;
  t.equal(receiver.deliveries.length, 3);
  t.equal(again?.id, first?.id);
  t.equal(again?.body, first?.body);
  t.not(second?.id, first?.id);
  for (const delivery of receiver.deliveries) t.ok(verify(delivery, secret));
});

t.test('kill -9 between the response and its record: it is sent again, and logged once', async (t) => {
  const { api, connection, database } = await startTestService(t);
  const receiver = await startReceiver(t);
  const { webhook_id } = await subscribe(t, api, receiver);
  const [{ path }] = await someItems(api, 1);
  const doomed = await startWorkerProcess(t, connection);
  await database.transaction().execute(async (transaction) => {
    // The endpoint's row is locked as soon as the delivery is on its way, so its result cannot be written.
    const locked = Promise.withResolvers<void>();
    receiver.reply = async () => {
      await locked.promise;
      return 204;
    };
    await api.post(`${path}/toggle`);
    await receiver.until(1);
    await transaction
      .selectFrom('webhook')
      .select('url')
      .where('webhook_id', '=', webhook_id)
      .forUpdate()
      .execute();
    locked.resolve();
    await eventually('the result waits', async () => {
      const { rows } = await sql`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(database);
      return rows.length > 0;
    });
    await doomed.kill();
  });
  await startWorkerProcess(t, connection);
  await settled(database);
  t.equal(receiver.deliveries.length, 2);
  t.equal(new Set(receiver.deliveries.map(({ id }) => id)).size, 1);
  const attempts = await storedAttempts(database);
  t.same(
    attempts.map(({ number, status }) => ({ number, status })),
    [{ number: 1, status: 204 }],
  );
});
