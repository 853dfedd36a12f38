import t from 'tap';
import type { Item } from '../../src/items/item.ts';
import { settled } from '../support/eventually.ts';
import { someItems } from '../support/menus.ts';
import { startReceiver, subscribe, verify } from '../support/receiver.ts';
import { startTestService } from '../support/service.ts';
import { startServiceProcess, startWorkerProcess } from './processes.ts';

const hourMs = 3_600_000;

t.test(
  'two workers on one backlog, their clocks an hour apart: nothing lost, repeated or out of order',
  async (t) => {
    const { api, connection, database } = await startTestService(t);
    const items = await someItems(api, 8);
    const shaky = await startReceiver(t, ({ event }, nth) =>
      (event.data as Item).version % 5 === 0 && nth === 1 ? 500 : 204,
    );
    const steady = await startReceiver(t);
    const { secret } = await subscribe(t, api, shaky);
    await subscribe(t, api, steady);
    for (let n = 0; n < 25; n += 1) await Promise.all(items.map(({ path }) => api.post(`${path}/toggle`)));
    await startWorkerProcess(t, connection, { clockOffsetMs: hourMs, leaseMs: 10_000 });
    await startWorkerProcess(t, connection, { clockOffsetMs: -hourMs, leaseMs: 10_000 });
    await settled(database);

    t.equal(steady.deliveries.length, 200);
    for (const { item_id, version } of items) {
      const expected = Array.from({ length: 25 }, (_, n) => version + 1 + n);
      t.same(versionsOf(steady, item_id), expected);
      t.same(
        versionsOf(shaky, item_id),
        expected.flatMap((number) => (number % 5 === 0 ? [number, number] : [number])),
      );
    }
    for (const delivery of shaky.deliveries) verify(delivery, secret);
    const senders = await database.selectFrom('attempt').select('started_at').execute();
    t.ok(senders.every(({ started_at }) => Math.abs(started_at.getTime() - Date.now()) < hourMs / 2));
  },
);

t.test('one process serves and two others deliver', async (t) => {
  const { connection, api } = await startTestService(t);
  const served = startServiceProcess(t, connection, { ROLE: 'api', PORT: '0' });
  for (let n = 0; n < 2; n += 1) startServiceProcess(t, connection, { ROLE: 'worker' });
  const url = await served.address();
  const receiver = await startReceiver(t);
  const { secret } = await subscribe(t, api, receiver);
  const [{ path, version }] = await someItems(api, 1);
  for (let n = 0; n < 10; n += 1) {
    const headers = { authorization: `Bearer ${await api.token()}` };
    t.equal((await fetch(`${url}/api/v1${path}/toggle`, { method: 'POST', headers })).status, 200);
  }
  await receiver.until(10);
  t.same(
    receiver.deliveries.map((delivery) => (verify(delivery, secret).data as Item).version),
    Array.from({ length: 10 }, (_, n) => version + 1 + n),
  );
});

function versionsOf(receiver: { deliveries: { event: { data: object } }[] }, itemId: number): number[] {
  return receiver.deliveries
    .map(({ event }) => event.data as Item)
    .filter(({ item_id }) => item_id === itemId)
    .map(({ version }) => version);
}
