import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { demoItems } from '../support/items.ts';
import { startReceiver, subscribe } from '../support/receiver.ts';
import { startTestService } from '../support/service.ts';

t.test('the settings in the body change, the others stay', async (t) => {
  const { api } = await startTestService(t);
  const made = await api.post('/webhooks', { url: 'https://hooks.example.com/', event_types: ['item.*'] });
  const { secret: _, ...before } = made.body.data;
  const path = `/webhooks/${before.webhook_id}`;
  const changed = await api.put(path, { description: 'Kitchen', menu_ids: [], enabled: false });
  t.match(changed, { status: 200, headers: { etag: /^"2-[0-9a-f]+"$/ } });
  const { updated_at, ...after } = changed.body.data;
  t.not(updated_at, before.updated_at);
  t.match(after, { ...before, description: 'Kitchen', enabled: false, version: 2, updated_at: undefined });
  t.same((await api.get(path)).body.data, changed.body.data);
});

t.test('an update that changes nothing leaves version and updated_at alone', async (t) => {
  const { api } = await startTestService(t);
  const filters = { event_types: ['item.*'], enabled: false, description: 'Kitchen' };
  const made = await api.post('/webhooks', { url: 'https://hooks.example.com/', ...filters });
  const { secret: _, ...webhook } = made.body.data;
  const response = await api.put(`/webhooks/${webhook.webhook_id}`, { ...filters, url: webhook.url });
  t.match(response, { status: 200, headers: { etag: /^"1-[0-9a-f]+"$/ } });
  t.same(response.body.data, webhook);
});

t.test('If-Match keeps two people from undoing each other', async (t) => {
  const { api } = await startTestService(t);
  const made = await api.post('/webhooks', { url: 'https://hooks.example.com/' });
  const path = `/webhooks/${made.body.data.webhook_id}`;
  const headers = { 'if-match': String(made.headers['etag']) };
  const responses = await Promise.all(
    ['first', 'second'].map((description) => api.put(path, { description }, { headers })),
  );
  t.same(responses.map(({ status }) => status).sort(), [200, 412]);
  const { description, version } = (await api.get(path)).body.data;
  t.equal(description, responses.find(({ status }) => status === 200)?.body.data.description);
  t.equal(version, 2);
});

t.test('the new address goes through the guard, and the new filters must lie within the grant', async (t) => {
  const { api, client } = await startTestService(t, { allowedNetworks: [] });
  const [location, other] = (await api.get('/locations')).body.data;
  const local = await client({ locations: [location.location_id] });
  const { webhook_id } = (await local.post('/webhooks', { url: 'https://hooks.example.com/' })).body.data;
  const path = `/webhooks/${webhook_id}`;
  for (const url of ['https://127.0.0.1/', 'https://0x7f.1/', 'https://[::ffff:10.0.0.1]/']) {
    t.match(await api.put(path, { url }), {
      status: 422,
      body: { errors: [{ field: '/url', code: 'blocked_address' }] },
    });
  }
  t.match(
    await api.put(path, { location_ids: [other.location_id] }),
    { status: 422, body: { errors: [{ field: '/location_ids/0', code: 'not_found' }] } },
    'not even by a client that sees more: its events would never be sent',
  );
  t.match(await api.put(path, {}), { status: 422 });
  t.match(await api.put(path, { secret: 'whsec_' }), {
    status: 422,
    body: { errors: [{ field: '/secret', code: 'unknown' }] },
  });
  t.match((await api.get(path)).body.data, { url: 'https://hooks.example.com/', version: 1 });
});

t.test('a paused endpoint collects events, and gets what it missed in order when it resumes', async (t) => {
  const { api, database } = await startTestService(t, { worker: {} });
  const receiver = await startReceiver(t);
  const { webhook_id } = await subscribe(t, api, receiver, { enabled: false });
  const [item] = await demoItems(api);
  for (let n = 0; n < 6; n += 1) await api.post(`${item.path}/toggle`);
  await eventually('all is queued', async () => {
    const queued = await database.selectFrom('delivery').select('delivery_id').execute();
    return queued.length === 6;
  });
  t.same(receiver.deliveries, []);
  await api.put(`/webhooks/${webhook_id}`, { enabled: true });
  const versions = (await receiver.until(6)).map(({ event }) => (event.data as { version: number }).version);
  t.same(
    versions,
    [1, 2, 3, 4, 5, 6].map((n) => item.version + n),
  );
});

t.test(
  'an endpoint that answered 410 is on again with enabled, and what failed there is sent at once',
  async (t) => {
    const { api } = await startTestService(t, { worker: {} });
    const receiver = await startReceiver(t, () => 410);
    const { webhook_id } = await subscribe(t, api, receiver);
    const path = `/webhooks/${webhook_id}`;
    const [item] = await demoItems(api);
    await api.post(`${item.path}/toggle`);
    const off = await eventually('it is disabled', async () => {
      const { data } = (await api.get(path)).body;
      return !data.enabled && data;
    });
    t.match(off, { disabled_reason: 'gone', disabled_at: /Z$/ });
    t.match((await api.put(path, { description: 'Mended' })).body.data, {
      enabled: false,
      disabled_reason: 'gone',
    });

    receiver.reply = () => 204;
    t.match(await api.put(path, { enabled: true }), {
      status: 200,
      body: { data: { enabled: true, disabled_reason: null, disabled_at: null } },
    });
    const [refused, taken] = await receiver.until(2);
    t.equal(taken?.id, refused?.id, 'before the five seconds until its second attempt are over');
    t.ok((taken?.receivedAt ?? 0) - (refused?.receivedAt ?? 0) < 4_000);
  },
);
