import t from 'tap';
import { demoItems } from '../support/items.ts';
import { startReceiver, subscribe } from '../support/receiver.ts';
import { startTestService } from '../support/service.ts';

t.test('nothing more is sent to a deleted endpoint, not even what waits', async (t) => {
  const { api } = await startTestService(t, { worker: {} });
  const gone = await startReceiver(t);
  const kept = await startReceiver(t);
  const { webhook_id } = await subscribe(t, api, gone, { enabled: false });
  await subscribe(t, api, kept);
  const [item] = await demoItems(api);
  await api.post(`${item.path}/toggle`);
  await kept.until(1);
  t.match(await api.delete(`/webhooks/${webhook_id}`), { status: 204, text: '' });
  await api.post(`${item.path}/toggle`);
  await kept.until(2);
  t.same(gone.deliveries, []);
  t.match(await api.delete(`/webhooks/${webhook_id}`), { status: 404 });
});

t.test('If-Match keeps an endpoint that has changed since', async (t) => {
  const { api } = await startTestService(t);
  const made = await api.post('/webhooks', { url: 'https://hooks.example.com/' });
  const path = `/webhooks/${made.body.data.webhook_id}`;
  const seen = { 'if-match': String(made.headers['etag']) };
  await api.put(path, { description: 'Kitchen' });
  t.match(await api.delete(path, { headers: seen }), { status: 412 });
  const now = await api.get(path);
  t.match(now, { status: 200 });
  const either = `${seen['if-match']}, ${now.headers['etag']}`;
  t.match(await api.delete(path, { headers: { 'if-match': either } }), { status: 204 });
});
