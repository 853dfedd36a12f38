import { sql } from 'kysely';
import t from 'tap';
import { storedAttempts, storedDeliveries } from '../../support/deliveries.ts';
import { eventually, settled } from '../../support/eventually.ts';
import { someItems } from '../../support/menus.ts';
import { hang, startReceiver, subscribe } from '../../support/receiver.ts';
import { startTestService } from '../../support/service.ts';

t.test(
  'an endpoint that keeps failing gets a probe now and then, and everything once it is back',
  async (t) => {
    const { api, database } = await startTestService(t, { worker: { retryDelay: () => 0 } });
    const items = await someItems(api, 12);
    const receiver = await startReceiver(t, () => 500);
    const { webhook_id } = await subscribe(t, api, receiver);
    for (const { path } of items) await api.post(`${path}/toggle`);
    await eventually('the circuit opens', async () => (await health(webhook_id)).consecutive_failures >= 10);
    // An attempt that was under way when it opened sets the time of the next probe once more.
    await eventually('no attempt is under way', async () => {
      await sql`update webhook set probe_at = now() + interval '1 day' where webhook_id = ${webhook_id}`.execute(
        database,
      );
      return (await underWay()) === 0;
    });
    const quiet = await recordedAttempts();
    const witness = await startReceiver(t);
    await subscribe(t, api, witness);
    for (const { path } of items) await api.post(`${path}/toggle`);
    await witness.until(12);
    t.equal(await recordedAttempts(), quiet, 'nothing is attempted while the circuit is open');

    for (const failures of [1, 2]) {
      await sql`update webhook set probe_at = now() where webhook_id = ${webhook_id}`.execute(database);
      await eventually('a probe fails', async () => (await recordedAttempts()) > quiet + failures - 1);
      await eventually('it has ended', async () => (await underWay()) === 0);
      t.equal(await recordedAttempts(), quiet + failures, 'one attempt');
      const { probe_in } = await health(webhook_id);
      t.ok(probe_in > 3 && probe_in <= 5, `the next probe is in ${probe_in} s`);
    }

    receiver.reply = () => 204;
    await sql`update webhook set probe_at = now() where webhook_id = ${webhook_id}`.execute(database);
    await settled(database);
    t.match(await health(webhook_id), { consecutive_failures: 0, probe_in: null });

    async function health(webhookId: number) {
      const { rows } = await sql<{ consecutive_failures: number; probe_in: number }>`
      select consecutive_failures, extract(epoch from probe_at - now())::float8 as probe_in
      from webhook where webhook_id = ${webhookId}`.execute(database);
      if (!rows[0]) throw new Error('no such webhook');
      return rows[0];
    }

    async function underWay(): Promise<number> {
      const { rows } = await sql<{ count: number }>`
      select count(*) from delivery where webhook_id = ${webhook_id} and leased_until > now()`.execute(
        database,
      );
      return rows[0]?.count ?? 0;
    }

    async function recordedAttempts(): Promise<number> {
      return (await storedAttempts(database, { webhook_id })).length;
    }
  },
);

t.test('endpoints that hang leave slots to the others', async (t) => {
  const { api } = await startTestService(t, { worker: { concurrency: 32 } });
  const items = await someItems(api, 20);
  const hanging = await startReceiver(t, () => hang);
  for (let n = 0; n < 3; n += 1) await subscribe(t, api, { url: `${hanging.url}/${n}` });
  for (const { path } of items) await api.post(`${path}/toggle`);
  await hanging.until(3 + 3 + 2);

  const healthy = await startReceiver(t);
  await subscribe(t, api, healthy);
  for (let round = 0; round < 3; round += 1) {
    for (const { path } of items) await api.post(`${path}/toggle`);
  }
  const started = performance.now();
  await healthy.until(60);
  t.ok(performance.now() - started < 5_000);
  t.ok(hanging.deliveries.length <= 16, `${hanging.deliveries.length} of 32 places hang`);
});

t.test(
  'a webhook deleted while deliveries are under way ends quietly, beside another of the same events',
  async (t) => {
    const { api, database } = await startTestService(t, { worker: {} });
    const items = await someItems(api, 3);
    const release = Promise.withResolvers<void>();
    const doomed = await startReceiver(t, async () => {
      await release.promise;
      return 204;
    });
    const other = await startReceiver(t);
    const { webhook_id } = await subscribe(t, api, doomed);
    await subscribe(t, api, other);
    for (const { path } of [...items, ...items]) await api.post(`${path}/toggle`);
    await doomed.until(3);
    t.equal((await api.delete(`/webhooks/${webhook_id}`)).status, 204);
    release.resolve();
    await eventually('their results are written', async () => {
      const deliveries = await storedDeliveries(database, { webhook_id });
      return deliveries.filter(({ state }) => state === 'delivered').length === 3;
    });
    for (const { path } of items) await api.post(`${path}/toggle`);
    await other.until(9);
    await settled(database);
    t.equal(doomed.deliveries.length, 3, 'nothing more is sent');
  },
);
