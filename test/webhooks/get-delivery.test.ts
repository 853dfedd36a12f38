import t from 'tap';
import { storedDeliveries } from '../support/deliveries.ts';
import { eventually } from '../support/eventually.ts';
import { demoItems } from '../support/items.ts';
import { startReceiver, subscribe } from '../support/receiver.ts';
import { startTestService } from '../support/service.ts';

t.test('every attempt is shown: when, how long, and the response or what went wrong', async (t) => {
  const { api } = await startTestService(t, { worker: { retryDelay: () => 20 } });
  const receiver = await startReceiver(t, (_delivery, nth) => {
    if (nth === 1) return { status: 503, body: 'busy' };
    return nth === 2 ? (response) => response.destroy() : { status: 200, body: 'taken' };
  });
  const { webhook_id } = await subscribe(t, api, receiver);
  const [item] = await demoItems(api);
  const before = Date.now();
  await api.post(`${item.path}/toggle`);
  await receiver.until(3);
  const path = `/webhooks/${webhook_id}/deliveries`;
  const delivery = await eventually('it is delivered', async () => {
    const { data } = (await api.get(path)).body;
    return data[0]?.state === 'delivered' && (await api.get(`${path}/${data[0].delivery_id}`)).body.data;
  });
  t.match(delivery, {
    event_id: receiver.deliveries[0]?.id,
    state: 'delivered',
    attempt_count: 3,
    next_attempt_at: null,
    attempts: [
      { number: 3, status: 200, error: null, response_excerpt: 'taken' },
      { number: 2, status: null, error: 'connection closed early', response_excerpt: null },
      { number: 1, status: 503, error: null, response_excerpt: 'busy' },
    ],
  });
  const times = delivery.attempts.map((one: { started_at: string }) => Date.parse(one.started_at));
  t.same(
    times,
    times.toSorted((one: number, other: number) => other - one),
  );
  t.ok(times.every((time: number) => time >= before - 1_000 && time <= Date.now() + 1_000));
});

t.test('a delivery belongs to its endpoint', async (t) => {
  const { api, database } = await startTestService(t, { worker: {} });
  const receiver = await startReceiver(t);
  const { webhook_id } = await subscribe(t, api, receiver);
  const other = (await api.post('/webhooks', { url: 'https://hooks.example.com/', enabled: false })).body
    .data;
  const [item] = await demoItems(api);
  await api.post(`${item.path}/toggle`);
  await receiver.until(1);
  const [delivery] = await storedDeliveries(database, { webhook_id });
  const delivery_id = delivery?.delivery_id;
  t.match(await api.get(`/webhooks/${webhook_id}/deliveries/${delivery_id}`), { status: 200 });
  t.match(await api.get(`/webhooks/${other.webhook_id}/deliveries/${delivery_id}`), { status: 404 });
});
