import { sql } from 'kysely';
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { demoItems } from '../support/items.ts';
import { startReceiver, subscribe } from '../support/receiver.ts';
import { startTestService } from '../support/service.ts';

t.test('a replay reports what is queued, and what of it is still to be delivered', async (t) => {
  const { api } = await startTestService(t, { worker: {} });
  const receiver = await startReceiver(t);
  const { webhook_id } = await subscribe(t, api, receiver);
  const [first, second] = await demoItems(api);
  for (const item of [first, second]) await api.post(`${item.path}/toggle`);
  await receiver.until(2);
  await eventually('both are final', async () => {
    const { data } = (await api.get(`/webhooks/${webhook_id}/deliveries?state=delivered`)).body;
    return data.length === 2;
  });
  receiver.reply = ({ event }) => ((event.data as { item_id: number }).item_id === first.item_id ? 500 : 204);
  const { body } = await api.post(`/webhooks/${webhook_id}/replay`, { since: '2020-01-01T00:00:00Z' });
  const path = `/webhooks/${webhook_id}/replays/${body.data.replay_id}`;
  const sending = await eventually('one of two is delivered', async () => {
    const { data } = (await api.get(path)).body;
    return data.queued === 2 && data.unfinished === 1 && data;
  });
  t.match(sending, { state: 'sending', queued: 2, unfinished: 1 });
});

t.test('a replay belongs to its endpoint', async (t) => {
  const { api, database } = await startTestService(t);
  const url = 'https://hooks.example.com/';
  const { webhook_id } = (await api.post('/webhooks', { url })).body.data;
  const other = (await api.post('/webhooks', { url })).body.data.webhook_id;
  const { body } = await api.post(`/webhooks/${webhook_id}/replay`, { since: '2020-01-01T00:00:00Z' });
  const { replay_id } = body.data;
  t.match(await api.get(`/webhooks/${webhook_id}/replays/${replay_id}`), { status: 200 });
  t.match(await api.get(`/webhooks/${other}/replays/${replay_id}`), { status: 404 });
  await sql`update replay set created_at = now() - interval '31 days'`.execute(database);
  await api.post(`/webhooks/${webhook_id}/replay`, { since: '2020-01-01T00:00:00Z' });
  t.match(
    await api.get(`/webhooks/${webhook_id}/replays/${replay_id}`),
    { status: 404 },
    'and is not kept for ever',
  );
});
