import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import document from '../../generated/openapi.json' with { type: 'json' };
import { checkSchema } from '../support/contract.ts';
import { hang, startReceiver, subscribe, verify } from '../support/receiver.ts';
import { cloneDatabase, startTestService } from '../support/service.ts';

const eventTypes = document.components.schemas.EventType.enum;

t.test('every type can be tested: signed, marked, and about no record that exists', async (t) => {
  const { api } = await startTestService(t);
  const receiver = await startReceiver(t, () => ({ status: 202, body: 'thank you' }));
  const { webhook_id, secret } = await subscribe(t, api, receiver, { event_types: ['menu.created'] });
  for (const type of eventTypes) {
    const tested = await api.post(`/webhooks/${webhook_id}/test`, { type });
    t.match(tested, {
      status: 200,
      body: {
        data: {
          event_id: /^evt_test_/,
          delivered: true,
          status: 202,
          error: null,
          response_excerpt: 'thank you',
        },
      },
    });
    const delivery = receiver.deliveries.at(-1);
    if (!delivery) throw new Error('nothing arrived');
    const event = verify(delivery, secret);
    checkSchema('WebhookPayload', event);
    t.match(event, {
      id: tested.body.data.event_id,
      type,
      request_id: tested.headers['x-request-id'],
      location_id: Number.MAX_SAFE_INTEGER,
    });
    t.equal(delivery.id, event.id);
    t.match(await api.get(`/events/${event.id}`), { status: 404 });
  }
  t.equal(receiver.deliveries.length, eventTypes.length);
  t.same((await api.get(`/webhooks/${webhook_id}/deliveries`)).body.data, []);
});

t.test('what the receiver did is reported in words, and disables nothing', async (t) => {
  const { api } = await startTestService(t);
  const receiver = await startReceiver(t);
  const { webhook_id } = await subscribe(t, api, receiver, { enabled: false });
  const test = async () =>
    (await api.post(`/webhooks/${webhook_id}/test`, { type: 'item.updated' })).body.data;

  receiver.reply = () => ({ status: 500, body: 'out of order' });
  t.match(await test(), { delivered: false, status: 500, error: null, response_excerpt: 'out of order' });
  receiver.reply = () => ({ status: 302, headers: { location: 'https://hooks.example.com/' } });
  t.match(await test(), { delivered: false, status: 302, error: 'redirect not followed' });
  receiver.reply = () => (response) => response.destroy();
  t.match(await test(), { delivered: false, status: null, error: 'connection closed early' });
  receiver.reply = () => 410;
  t.match(await test(), { delivered: false, status: 410 });
  t.match((await api.get(`/webhooks/${webhook_id}`)).body.data, { disabled_reason: null, version: 1 });
  await receiver.close();
  t.match(await test(), { delivered: false, status: null, error: 'connection refused' });
});

t.test('the guard stands before a test too', async (t) => {
  const { api, database } = await startTestService(t, { allowedNetworks: [] });
  const receiver = await startReceiver(t);
  const made = await api.post('/webhooks', { url: 'https://hooks.example.com/' });
  const { webhook_id } = made.body.data;
  // As when a name that was public at its registration now leads inside.
  await database.updateTable('webhook').set({ url: receiver.url }).execute();
  const tested = await api.post(`/webhooks/${webhook_id}/test`, { type: 'item.toggled' });
  t.match(tested.body.data, {
    delivered: false,
    status: null,
    error: 'blocked_address',
    response_excerpt: null,
  });
  t.same(receiver.deliveries, []);
});

t.test('a keyed test may take longer than the server lets a transaction be idle', async (t) => {
  const idleMs = 200;
  const limits = { idle_in_transaction_session_timeout: idleMs };
  const { api } = await startTestService(t, { connection: { ...(await cloneDatabase(t)), ...limits } });
  const receiver = await startReceiver(t, async () => {
    await pause(3 * idleMs);
    return 204;
  });
  const { webhook_id } = await subscribe(t, api, receiver);
  const headers = { 'idempotency-key': 'one' };
  for (const repeated of [undefined, 'true'])
    t.match(await api.post(`/webhooks/${webhook_id}/test`, { type: 'item.toggled' }, { headers }), {
      status: 200,
      headers: { 'idempotency-replayed': repeated },
      body: { data: { delivered: true } },
    });
  t.equal(receiver.deliveries.length, 1);
});

t.test('one test of an account at a time; another account is not held up', async (t) => {
  const { api, client } = await startTestService(t);
  const receiver = await startReceiver(t, () => hang);
  const { webhook_id } = await subscribe(t, api, receiver);
  const hanging = api.post(`/webhooks/${webhook_id}/test`, { type: 'item.toggled' });
  await receiver.until(1);
  t.match(await api.post(`/webhooks/${webhook_id}/test`, { type: 'item.toggled' }), {
    status: 429,
    headers: { 'retry-after': '15' },
  });
  const other = await client({ account: 'Another restaurant group' });
  const prompt = await startReceiver(t);
  const { webhook_id: theirs } = await subscribe(t, other, prompt);
  t.match(await other.post(`/webhooks/${theirs}/test`, { type: 'item.toggled' }), { status: 200 });
  await receiver.close();
  t.match((await hanging).body.data, { delivered: false, error: 'connection closed early' });
  t.match(await api.post(`/webhooks/${webhook_id}/test`, { type: 'item.toggled' }), { status: 200 });
});

t.test('a type that does not exist is refused', async (t) => {
  const { api } = await startTestService(t);
  const { webhook_id } = (await api.post('/webhooks', { url: 'https://hooks.example.com/' })).body.data;
  for (const body of [{ type: 'item.*' }, { type: 'item.sold' }, {}]) {
    t.match(await api.post(`/webhooks/${webhook_id}/test`, body), {
      status: 422,
      body: { errors: [{ field: '/type' }] },
    });
  }
});
