import { once } from 'node:events';
import t from 'tap';
import type { Item } from '../../src/items/item.ts';
import { storedAttempts, storedDeliveries } from '../support/deliveries.ts';
import { settled } from '../support/eventually.ts';
import { someItems } from '../support/menus.ts';
import { startReceiver, subscribe, verify } from '../support/receiver.ts';
import { startTestService } from '../support/service.ts';
import { startWorkerProcess } from './processes.ts';

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
    const senders = await storedAttempts(database);
    t.ok(senders.every(({ started_at }) => Math.abs(started_at.getTime() - Date.now()) < hourMs / 2));
  },
);

t.test('SIGTERM lets attempts in progress finish, and records them', async (t) => {
  const { api, connection, database } = await startTestService(t);
  const stopping = Promise.withResolvers<void>();
  const receiver = await startReceiver(t, async () => {
    await stopping.promise;
    return 204;
  });
  await subscribe(t, api, receiver);
  const [{ path }] = await someItems(api, 1);
  const { child } = await startWorkerProcess(t, connection, { leaseMs: 10_000 });
  await api.post(`${path}/toggle`);
  await receiver.until(1);
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  stopping.resolve();
  t.same(await exit, [0, null]);
  t.match(await storedDeliveries(database), [{ state: 'delivered', attempts: 1 }]);
});

function versionsOf(receiver: { deliveries: { event: { data: object } }[] }, itemId: number): number[] {
  return receiver.deliveries
    .map(({ event }) => event.data as Item)
    .filter(({ item_id }) => item_id === itemId)
    .map(({ version }) => version);
}
