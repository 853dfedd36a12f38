import { sql } from 'kysely';
import t from 'tap';
import { retryDelaysSeconds } from '../../../src/webhooks/delivery/retry-schedule.ts';
import { storedAttempts, storedDeliveries } from '../../support/deliveries.ts';
import { eventually, settled } from '../../support/eventually.ts';
import { someItems } from '../../support/menus.ts';
import { type ReceiverReply, startReceiver, subscribe } from '../../support/receiver.ts';
import { startTestService } from '../../support/service.ts';

// Time passes where it is kept: in the database.
const { api, database } = await startTestService(t, { worker: {} });

t.test(
  'ten attempts are made on schedule, with one id and the same bytes; then it is kept as failed',
  async (t) => {
    const receiver = await startReceiver(t, () => ({ status: 500, body: 'out of order' }));
    const { webhook_id } = await subscribe(t, api, receiver);
    const [{ path }] = await someItems(api, 1);
    await api.post(`${path}/toggle`);
    for (const [n, seconds] of retryDelaysSeconds.entries()) {
      const delivery = await attempted(webhook_id, n + 1);
      t.equal(delivery.state, 'pending');
      t.ok(
        delivery.due_in > seconds * 0.8 - 5 && delivery.due_in <= seconds * 1.2,
        `${n + 1}: ${delivery.due_in} s`,
      );
      await passTime(webhook_id);
    }
    t.match(await attempted(webhook_id, 10), { state: 'failed', due_in: null });

    t.equal(receiver.deliveries.length, 10);
    t.equal(new Set(receiver.deliveries.map(({ id, body }) => id + body)).size, 1);
    const log = await storedAttempts(database, { webhook_id });
    t.same(
      log.map(({ number, status, error, response_excerpt }) => ({ number, status, error, response_excerpt })),
      Array.from({ length: 10 }, (_, n) => ({
        number: n + 1,
        status: 500,
        error: null,
        response_excerpt: 'out of order',
      })),
    );
  },
);

t.test('once a delivery is given up, the next one of its record is sent', async (t) => {
  const receiver = await startReceiver(t, () => 500);
  const { webhook_id } = await subscribe(t, api, receiver);
  const [{ path }] = await someItems(api, 1);
  await api.post(`${path}/toggle`);
  await api.post(`${path}/toggle`);
  await attempted(webhook_id, 1);
  await database.updateTable('delivery').set({ attempts: 9 }).where('webhook_id', '=', webhook_id).execute();
  receiver.reply = ({ id }) => (id === receiver.deliveries[0]?.id ? 500 : 204);
  await passTime(webhook_id);
  await settled(database);
  const states = (await storedDeliveries(database, { webhook_id })).map(({ state }) => state);
  t.same(states, ['failed', 'delivered']);
});

t.test('Retry-After on 429 and 503 moves the next attempt, in both forms', async (t) => {
  const inAnHour = () => new Date(Date.now() + 3_600_000).toUTCString();
  const responses: [string, () => ReceiverReply, number][] = [
    ['429 in seconds', () => ({ status: 429, headers: { 'retry-after': '3600' } }), 3600],
    ['429 as a date', () => ({ status: 429, headers: { 'retry-after': inAnHour() } }), 3600],
    ['503 in seconds', () => ({ status: 503, headers: { 'retry-after': '7200' } }), 7200],
    ['a wish beyond a day', () => ({ status: 429, headers: { 'retry-after': '864000' } }), 86_400],
    ['500 does not count', () => ({ status: 500, headers: { 'retry-after': '3600' } }), 5],
  ];
  const [{ path }] = await someItems(api, 1);
  for (const [name, response, seconds] of responses) {
    await t.test(name, async (t) => {
      const { webhook_id } = await subscribe(t, api, await startReceiver(t, response));
      await api.post(`${path}/toggle`);
      const { due_in } = await attempted(webhook_id, 1);
      t.ok(due_in > seconds * 0.8 - 5 && due_in <= seconds * 1.2, `${due_in} s`);
    });
  }
});

t.test('410 disables the endpoint at once, and later events are collected', async (t) => {
  const receiver = await startReceiver(t, () => 410);
  const { webhook_id } = await subscribe(t, api, receiver);
  const [{ path }] = await someItems(api, 1);
  await api.post(`${path}/toggle`);
  await eventually('the endpoint is disabled', async () => !(await webhook(webhook_id)).enabled);
  t.match(await webhook(webhook_id), { disabled_reason: 'gone', disabled_at: /Z$/, version: 2 });

  await api.post(`${path}/toggle`);
  await settled(database);
  t.equal(receiver.deliveries.length, 1);
  const open = await storedDeliveries(database, { webhook_id });
  t.same(open.map(({ state }) => state).sort(), ['held', 'pending']);
});

t.test(
  'five days of nothing but failures disable the endpoint; a success in between does not let it',
  async (t) => {
    const receiver = await startReceiver(t, () => 500);
    const { webhook_id } = await subscribe(t, api, receiver);
    const [one, two = one] = await someItems(api, 2);
    await api.post(`${one.path}/toggle`);
    await attempted(webhook_id, 1);
    t.ok(await failingSince(webhook_id), 'the first failure is noted');

    receiver.reply = () => 204;
    await api.post(`${two.path}/toggle`);
    await eventually('a success clears it', async () => (await failingSince(webhook_id)) === null);

    receiver.reply = () => 500;
    await passTime(webhook_id);
    await attempted(webhook_id, 2);
    await agoFailing(webhook_id, '119 hours');
    await passTime(webhook_id);
    await attempted(webhook_id, 3);
    t.equal((await webhook(webhook_id)).enabled, true);

    await agoFailing(webhook_id, '120 hours');
    await passTime(webhook_id);
    await attempted(webhook_id, 4);
    t.match(await webhook(webhook_id), { enabled: false, disabled_reason: 'failing', disabled_at: /Z$/ });
  },
);

t.test('days without an attempt do not count towards the five', async (t) => {
  const receiver = await startReceiver(t, () => 500);
  const { webhook_id } = await subscribe(t, api, receiver);
  const [{ path }] = await someItems(api, 1);
  await api.post(`${path}/toggle`);
  await attempted(webhook_id, 1);
  const ago = async (lastFailure: string) => {
    await sql`update webhook set failing_since = now() - interval '121 hours',
      last_failed_at = now() - ${lastFailure}::interval where webhook_id = ${webhook_id}`.execute(database);
    await passTime(webhook_id);
  };
  await ago('121 hours');
  await attempted(webhook_id, 2);
  t.equal((await webhook(webhook_id)).enabled, true, 'a failure, five quiet days and another failure');
  await ago('31 hours');
  await attempted(webhook_id, 3);
  t.equal((await webhook(webhook_id)).enabled, true, 'of five days one was quiet');
  await ago('28 hours');
  await attempted(webhook_id, 4);
  t.equal(
    (await webhook(webhook_id)).enabled,
    false,
    'the schedule itself pauses for up to a day and a fifth',
  );
});

t.test('Retry-After applies to everything that waits for the endpoint', async (t) => {
  const receiver = await startReceiver(t, () => ({ status: 503, headers: { 'retry-after': '3600' } }));
  const { webhook_id } = await subscribe(t, api, receiver);
  const [one, two = one] = await someItems(api, 2);
  await api.post(`${one.path}/toggle`);
  await attempted(webhook_id, 1);
  receiver.reply = () => 204;

  const witness = await startReceiver(t);
  await subscribe(t, api, witness);
  await api.post(`${two.path}/toggle`);
  await witness.until(1);
  await eventually('the attempt is recorded', async () => (await delivered()) > 0);
  t.equal(receiver.deliveries.length, 1, 'another record waits as well');
  await sql`update webhook set quiet_until = now() where webhook_id = ${webhook_id}`.execute(database);
  await receiver.until(2);

  async function delivered() {
    const deliveries = await storedDeliveries(database);
    return deliveries.filter((one) => one.webhook_id > webhook_id && one.state === 'delivered').length;
  }
});

t.test('enabling an endpoint ends the time for which it asked to be left alone', async (t) => {
  const receiver = await startReceiver(t, () => ({ status: 429, headers: { 'retry-after': '86400' } }));
  const { webhook_id } = await subscribe(t, api, receiver);
  const [{ path }] = await someItems(api, 1);
  await api.post(`${path}/toggle`);
  await attempted(webhook_id, 1);
  receiver.reply = () => 204;
  t.equal((await api.put(`/webhooks/${webhook_id}`, { enabled: true })).status, 200);
  await receiver.until(2);
});

/** The endpoint's only attempted delivery, after so many attempts. */
async function attempted(webhookId: number, attempts: number) {
  return eventually(`attempt ${attempts}`, async () => {
    const { rows } = await sql<{ state: string; due_in: number }>`
      select state, extract(epoch from next_attempt_at - now())::float8 as due_in from delivery
      where webhook_id = ${webhookId} and attempts = ${attempts}
      union all
      select state, null from delivery_log where webhook_id = ${webhookId} and attempt_count = ${attempts}`.execute(
      database,
    );
    return rows[0];
  });
}

/** Makes the next attempts due. */
async function passTime(webhookId: number): Promise<void> {
  await sql`update webhook set probe_at = now() where webhook_id = ${webhookId}`.execute(database);
  await sql`update delivery set next_attempt_at = now()
    where webhook_id = ${webhookId} and state = 'pending'`.execute(database);
}

async function failingSince(webhookId: number): Promise<Date | null> {
  const { failing_since } = await database
    .selectFrom('webhook')
    .select('failing_since')
    .where('webhook_id', '=', webhookId)
    .executeTakeFirstOrThrow();
  return failing_since;
}

async function agoFailing(webhookId: number, ago: string): Promise<void> {
  await sql`update webhook set failing_since = now() - ${ago}::interval
    where webhook_id = ${webhookId}`.execute(database);
}

async function webhook(webhookId: number) {
  return (await api.get(`/webhooks/${webhookId}`)).body.data;
}
