import t from 'tap';
import { startTestService } from '../support/service.ts';

t.test('an endpoint that has not changed costs a 304, one that has is returned whole', async (t) => {
  const { api } = await startTestService(t);
  const made = await api.post('/webhooks', { url: 'https://hooks.example.com/' });
  const path = `/webhooks/${made.body.data.webhook_id}`;
  const headers = { 'if-none-match': String(made.headers['etag']) };
  t.match(await api.get(path, { headers }), { status: 304, text: '' });
  await api.put(path, { description: 'Kitchen' });
  t.match(await api.get(path, { headers }), {
    status: 200,
    headers: { etag: /^"2-[0-9a-f]+"$/ },
    body: { data: { description: 'Kitchen', version: 2 } },
  });
});

t.test('an endpoint that sees more than the client may is not shown to it', async (t) => {
  const { api, client } = await startTestService(t);
  const [location] = (await api.get('/locations')).body.data;
  const local = await client({ locations: [location.location_id] });
  const stranger = await client({ account: 'Another restaurant group' });
  const { webhook_id } = (await api.post('/webhooks', { url: 'https://hooks.example.com/' })).body.data;
  for (const other of [local, stranger]) {
    t.match(await other.get(`/webhooks/${webhook_id}`), { status: 403, body: { code: 'forbidden' } });
  }
});
