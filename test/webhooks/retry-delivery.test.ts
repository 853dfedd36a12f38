import t from 'tap';
import type { components } from '../../generated/api.ts';
import type { Api } from '../support/api.ts';
import { storedAttempts } from '../support/deliveries.ts';
import { eventually } from '../support/eventually.ts';
import { demoItems } from '../support/items.ts';
import { hang, startReceiver, subscribe } from '../support/receiver.ts';
import { startTestService } from '../support/service.ts';

type Delivery = components['schemas']['Delivery'];

const never = () => 3_600_000;
const givenUp = () => null;

t.test('a delivery that failed for good is sent again, the same bytes under the same id', async (t) => {
  const { api } = await startTestService(t, { worker: { retryDelay: givenUp } });
  const receiver = await startReceiver(t, (_delivery, nth) => (nth === 1 ? 500 : 204));
  const { webhook_id } = await subscribe(t, api, receiver);
  const [item] = await demoItems(api);
  await api.post(`${item.path}/toggle`);
  const failed = await inState(api, webhook_id, 'failed');
  const retried = await api.post(`/webhooks/${webhook_id}/deliveries/${failed.delivery_id}/retry`);
  t.match(retried, { status: 202, body: { data: { state: 'pending', attempt_count: 1 } } });
  t.ok(Date.parse(retried.body.data.next_attempt_at) <= Date.now() + 1_000);
  const [first, second] = await receiver.until(2);
  t.equal(second?.id, first?.id);
  t.equal(second?.body, first?.body);
  t.match(await inState(api, webhook_id, 'delivered'), { delivery_id: failed.delivery_id, attempt_count: 2 });
});

t.test(
  'one that waits for its next attempt does not wait, and one that was delivered is sent again',
  async (t) => {
    const { api } = await startTestService(t, { worker: { retryDelay: never } });
    const receiver = await startReceiver(t, (_delivery, nth) => (nth === 1 ? 500 : 204));
    const { webhook_id } = await subscribe(t, api, receiver);
    const [item] = await demoItems(api);
    await api.post(`${item.path}/toggle`);
    const waiting = await eventually('its first attempt has failed', async () => {
      const [delivery] = await log(api, webhook_id);
      return delivery?.last_attempt?.status === 500 && delivery;
    });
    const path = `/webhooks/${webhook_id}/deliveries/${waiting.delivery_id}/retry`;
    t.match(await api.post(path), { status: 202 });
    await inState(api, webhook_id, 'delivered');
    t.match(await api.post(path), { status: 202, body: { data: { state: 'pending', attempt_count: 2 } } });
    await receiver.until(3);
  },
);

t.test('the retry of a held delivery makes the one it waits for due, so that the order stays', async (t) => {
  const { api } = await startTestService(t, { worker: { retryDelay: never } });
  const receiver = await startReceiver(t, (_delivery, nth) => (nth === 1 ? 500 : 204));
  const { webhook_id } = await subscribe(t, api, receiver);
  const [item] = await demoItems(api);
  await api.post(`${item.path}/toggle`);
  await eventually('the first has failed', async () => {
    const [delivery] = await log(api, webhook_id);
    return delivery?.last_attempt?.status === 500;
  });
  await api.post(`${item.path}/toggle`);
  const held = await inState(api, webhook_id, 'held');
  const retried = await api.post(`/webhooks/${webhook_id}/deliveries/${held.delivery_id}/retry`);
  t.match(retried, { status: 202, body: { data: { state: 'held', next_attempt_at: null } } });
  const versions = await receiver.until(3);
  t.same(
    versions.map(versionOf),
    [1, 1, 2].map((n) => item.version + n),
  );
});

t.test(
  'one that is sent again goes before later events that wait, and never beside one under way',
  async (t) => {
    const { api, database } = await startTestService(t, { worker: { retryDelay: never } });
    const receiver = await startReceiver(t);
    const { webhook_id } = await subscribe(t, api, receiver);
    const [item] = await demoItems(api);
    await api.post(`${item.path}/toggle`);
    const first = await inState(api, webhook_id, 'delivered');
    const path = `/webhooks/${webhook_id}/deliveries/${first.delivery_id}/retry`;

    let underWay = 0;
    let mostUnderWay = 0;
    const release = Promise.withResolvers<void>();
    receiver.reply = async () => {
      underWay += 1;
      mostUnderWay = Math.max(mostUnderWay, underWay);
      await release.promise;
      underWay -= 1;
      return 204;
    };
    await api.post(`${item.path}/toggle`);
    await receiver.until(2);
    await api.post(`${item.path}/toggle`);
    await eventually('the third is queued', async () => (await log(api, webhook_id)).length === 3);
    t.match(await api.post(path), { status: 202, body: { data: { state: 'held' } } });
    release.resolve();
    const arrived = await receiver.until(4);
    t.same(
      arrived.map(versionOf),
      [1, 2, 1, 3].map((n) => item.version + n),
    );
    t.equal(mostUnderWay, 1);
    t.same(
      await eventually('all are final', async () => {
        const states = (await log(api, webhook_id)).map(({ state }) => state);
        return states.every((state) => state === 'delivered') && states;
      }),
      ['delivered', 'delivered', 'delivered'],
    );
    t.equal((await storedAttempts(database)).length, 4);
  },
);

t.test('an attempt in progress is left alone', async (t) => {
  const { api } = await startTestService(t, { worker: {} });
  const receiver = await startReceiver(t, () => hang);
  const { webhook_id } = await subscribe(t, api, receiver);
  const [item] = await demoItems(api);
  await api.post(`${item.path}/toggle`);
  await receiver.until(1);
  const [delivery] = await log(api, webhook_id);
  const path = `/webhooks/${webhook_id}/deliveries/${delivery?.delivery_id}/retry`;
  for (let n = 0; n < 3; n += 1) t.match(await api.post(path), { status: 202 });
  const [other] = await demoItems(api);
  await api.post(`${other.path}/toggle`);
  await receiver.until(2);
  t.equal(receiver.deliveries.length, 2, 'the other record went, the same one did not go twice');
  await receiver.close();
});

t.test(
  'what is no longer kept cannot be sent: 409; a delivery of another endpoint is none of this',
  async (t) => {
    const { api, database } = await startTestService(t, { worker: {} });
    const receiver = await startReceiver(t);
    const { webhook_id } = await subscribe(t, api, receiver);
    const other = (await api.post('/webhooks', { url: 'https://hooks.example.com/', enabled: false })).body
      .data;
    const [item] = await demoItems(api);
    await api.post(`${item.path}/toggle`);
    const { delivery_id } = await inState(api, webhook_id, 'delivered');
    t.match(await api.post(`/webhooks/${other.webhook_id}/deliveries/${delivery_id}/retry`), { status: 404 });
    await database.deleteFrom('event').execute();
    t.match(await api.post(`/webhooks/${webhook_id}/deliveries/${delivery_id}/retry`), {
      status: 409,
      body: { code: 'conflict' },
    });
    t.match((await log(api, webhook_id))[0], { state: 'delivered' });
  },
);

async function log(api: Api, webhookId: number): Promise<Delivery[]> {
  return (await api.get(`/webhooks/${webhookId}/deliveries`)).body.data;
}

async function inState(api: Api, webhookId: number, state: Delivery['state']): Promise<Delivery> {
  return eventually(`a delivery is ${state}`, async () =>
    (await log(api, webhookId)).find((delivery) => delivery.state === state),
  );
}

function versionOf({ event }: { event: { data: object } }): number {
  return (event.data as { version: number }).version;
}
