import { sql } from 'kysely';
import t from 'tap';
import type { Item } from '../../../src/items/item.ts';
import { settled } from '../../support/eventually.ts';
import { someItems } from '../../support/menus.ts';
import { type Delivery, hang, startReceiver, subscribe } from '../../support/receiver.ts';
import { startTestService } from '../../support/service.ts';

const { api, database } = await startTestService(t, { worker: { retryDelay: () => 50 } });
const item = (delivery: Delivery) => delivery.event.data as Item;
const itemId = (delivery: Delivery) => item(delivery).item_id;

t.test('100 toggles of one item arrive in the order of its versions, even if attempts fail', async (t) => {
  const [{ path, version }] = await someItems(api, 1);
  const steady = await startReceiver(t);
  const shaky = await startReceiver(t, (delivery, nth) =>
    item(delivery).version % 7 === 0 && nth < 3 ? 500 : 204,
  );
  await subscribe(t, api, steady);
  await subscribe(t, api, shaky);
  for (let n = 0; n < 10; n += 1) {
    await Promise.all(Array.from({ length: 10 }, () => api.post(`${path}/toggle`)));
  }
  await settled(database);

  const expected = Array.from({ length: 100 }, (_, n) => version + 1 + n);
  t.same(
    steady.deliveries.map((delivery) => item(delivery).version),
    expected,
  );
  const attempts = expected.flatMap((number) => (number % 7 === 0 ? [number, number, number] : [number]));
  t.same(
    shaky.deliveries.map((delivery) => item(delivery).version),
    attempts,
    'a retry comes before the next',
  );
});

t.test(
  'a failing event holds back the later ones of its record at that endpoint, and nothing else',
  async (t) => {
    const [bad, good = bad] = await someItems(api, 2);
    let broken = true;
    const receiver = await startReceiver(t, (delivery) =>
      broken && itemId(delivery) === bad.item_id ? 500 : 204,
    );
    const other = await startReceiver(t);
    await subscribe(t, api, receiver);
    await subscribe(t, api, other);
    await api.post(`${bad.path}/toggle`);
    await api.post(`${bad.path}/toggle`);
    await receiver.until(2, (delivery) => itemId(delivery) === bad.item_id);
    await api.post(`${good.path}/toggle`);
    await api.post(`${good.path}/toggle`);

    await receiver.until(2, (delivery) => itemId(delivery) === good.item_id);
    await other.until(4);
    const [first] = receiver.deliveries;
    t.same(
      new Set(receiver.deliveries.filter((one) => itemId(one) === bad.item_id).map(({ id }) => id)),
      new Set([first?.id]),
    );
    broken = false;
    await settled(database);
    t.equal(item(receiver.deliveries.at(-1) as Delivery).version, item(first as Delivery).version + 1);
  },
);

t.test('records are delivered in parallel', async (t) => {
  const items = await someItems(api, 8);
  const receiver = await startReceiver(t, () => hang);
  await subscribe(t, api, receiver);
  for (const { path } of items) await api.post(`${path}/toggle`);
  await receiver.until(8);
  t.same(new Set(receiver.deliveries.map(itemId)).size, 8);
});

t.test('a paused endpoint keeps collecting, and is sent everything in order when it resumes', async (t) => {
  const [{ path, version }] = await someItems(api, 1);
  const receiver = await startReceiver(t);
  const witness = await startReceiver(t);
  const { webhook_id } = await subscribe(t, api, receiver);
  await subscribe(t, api, witness);
  const enable = (enabled: boolean) =>
    database.updateTable('webhook').set({ enabled }).where('webhook_id', '=', webhook_id).execute();
  await enable(false);
  for (let n = 0; n < 20; n += 1) await api.post(`${path}/toggle`);
  await witness.until(20);
  t.same(receiver.deliveries, []);
  t.same(await waiting(webhook_id), { pending: 1, held: 19 });

  await enable(true);
  await receiver.until(20);
  t.same(
    receiver.deliveries.map((delivery) => item(delivery).version),
    Array.from({ length: 20 }, (_, n) => version + 1 + n),
  );
});

async function waiting(webhookId: number) {
  const { rows } = await sql<{ state: string; count: number }>`
    select state, count(*) from delivery where webhook_id = ${webhookId} group by state`.execute(database);
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
}
