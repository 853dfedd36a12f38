import { sql } from 'kysely';
import t from 'tap';
import type { Api } from '../support/api.ts';
import { demoItems } from '../support/items.ts';
import { type Receiver, startReceiver, subscribe, verify } from '../support/receiver.ts';
import { startTestService } from '../support/service.ts';
import { storedText } from '../support/stored-text.ts';

t.test('until the overlap ends both secrets sign, and either verifies', async (t) => {
  const { api, database } = await startTestService(t, { worker: {} });
  const receiver = await startReceiver(t);
  const { webhook_id, secret: first } = await subscribe(t, api, receiver);
  const rotated = await api.post(`/webhooks/${webhook_id}/rotate-secret`);
  t.match(rotated, {
    status: 200,
    headers: { etag: /^"2-[0-9a-f]+"$/ },
    body: { data: { webhook_id, version: 2 } },
  });
  const { secret: second } = rotated.body.data;
  t.not(second, first);

  const delivery = await nextDelivery(api, receiver);
  t.equal(delivery.headers['webhook-signature']?.split(' ').length, 2);
  t.ok(verify(delivery, first));
  t.ok(verify(delivery, second));
  const expiries = await database.selectFrom('webhook_secret').select('expires_at').execute();
  const [ends] = expiries.flatMap(({ expires_at }) => expires_at ?? []);
  t.ok(Math.abs(Number(ends) - Date.now() - 86_400_000) < 60_000, 'a day, unless asked otherwise');
  t.notOk((await storedText(database)).includes(second.slice('whsec_'.length)));
});

t.test('when the overlap is over, the old secret no longer signs; without one, at once', async (t) => {
  const { api, database } = await startTestService(t, { worker: {} });
  const receiver = await startReceiver(t);
  const { webhook_id, secret: first } = await subscribe(t, api, receiver);
  const rotate = async (overlap_seconds: number): Promise<string> =>
    (await api.post(`/webhooks/${webhook_id}/rotate-secret`, { overlap_seconds })).body.data.secret;

  const second = await rotate(1);
  await sql`update webhook_secret set expires_at = expires_at - interval '1 second'`.execute(database);
  const afterOverlap = await nextDelivery(api, receiver);
  t.throws(() => verify(afterOverlap, first));
  t.ok(verify(afterOverlap, second));

  const third = await rotate(604_800);
  const fourth = await rotate(0);
  const atOnce = await nextDelivery(api, receiver);
  t.ok(verify(atOnce, fourth));
  t.equal(atOnce.headers['webhook-signature']?.split(' ').length, 1);
  for (const secret of [first, second, third]) t.throws(() => verify(atOnce, secret));
});

t.test('five secrets are valid at most; the oldest goes first', async (t) => {
  const { api, database } = await startTestService(t, { worker: {} });
  const receiver = await startReceiver(t);
  const { webhook_id, secret } = await subscribe(t, api, receiver);
  const secrets = [secret];
  for (let n = 0; n < 6; n += 1) {
    const { body } = await api.post(`/webhooks/${webhook_id}/rotate-secret`, {});
    secrets.push(body.data.secret);
  }
  const delivery = await nextDelivery(api, receiver);
  const valid = secrets.filter((one) => {
    try {
      return verify(delivery, one);
    } catch {
      return false;
    }
  });
  t.same(valid, secrets.slice(-5));
  const stored = await database.selectFrom('webhook_secret').select('expires_at').execute();
  t.equal(stored.length, 5);
  t.equal(stored.filter(({ expires_at }) => expires_at === null).length, 1);
});

t.test('two concurrent rotations take turns: one secret is the current one', async (t) => {
  const { api, database } = await startTestService(t);
  const { webhook_id } = (await api.post('/webhooks', { url: 'https://hooks.example.com/' })).body.data;
  const responses = await Promise.all(
    Array.from({ length: 5 }, () => api.post(`/webhooks/${webhook_id}/rotate-secret`)),
  );
  t.same(responses.map(({ body }) => body.data.version).sort(), [2, 3, 4, 5, 6]);
  const stored = await database.selectFrom('webhook_secret').select('expires_at').execute();
  t.equal(stored.filter(({ expires_at }) => expires_at === null).length, 1);
});

t.test('a repeat with the same Idempotency-Key returns the same secret and creates none', async (t) => {
  const { api } = await startTestService(t);
  const { webhook_id } = (await api.post('/webhooks', { url: 'https://hooks.example.com/' })).body.data;
  const rotate = () =>
    api.post(`/webhooks/${webhook_id}/rotate-secret`, undefined, { headers: { 'idempotency-key': 'one' } });
  const first = await rotate();
  t.same((await rotate()).body, first.body);
  t.equal((await api.get(`/webhooks/${webhook_id}`)).body.data.version, 2);
});

t.test('If-Match refuses a rotation of what has changed, and the overlap is a week at most', async (t) => {
  const { api } = await startTestService(t);
  const made = await api.post('/webhooks', { url: 'https://hooks.example.com/' });
  const path = `/webhooks/${made.body.data.webhook_id}`;
  await api.put(path, { description: 'Kitchen' });
  const headers = { 'if-match': String(made.headers['etag']) };
  t.match(await api.post(`${path}/rotate-secret`, {}, { headers }), { status: 412 });
  for (const overlap_seconds of [-1, 604_801, 1.5, '60', null]) {
    t.match(await api.post(`${path}/rotate-secret`, { overlap_seconds }), {
      status: 422,
      body: { errors: [{ field: '/overlap_seconds' }] },
    });
  }
  t.equal((await api.get(path)).body.data.version, 2);
});

async function nextDelivery(api: Api, receiver: Receiver) {
  const [item] = await demoItems(api);
  const { headers } = await api.post(`${item.path}/toggle`);
  const [delivery] = await receiver.until(1, ({ event }) => event.request_id === headers['x-request-id']);
  if (!delivery) throw new Error('nothing arrived');
  return delivery;
}
