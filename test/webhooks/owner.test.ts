import { sql } from 'kysely';
import t from 'tap';
import type { Database } from '../../src/db/database.ts';
import type { Api } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { demoItems } from '../support/items.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestService } from '../support/service.ts';

t.test('an endpoint names the client that registered it, and needs one that may read menus', async (t) => {
  const { api, client } = await startTestService(t);
  const made = (await api.post('/webhooks', { url: 'https://hooks.example.com/' })).body.data;
  t.equal(made.client_id, api.credentials.client_id);
  const blind = await client({ scopes: ['webhooks:manage'] });
  t.match(await blind.post('/webhooks', { url: 'https://hooks.example.com/' }), {
    status: 403,
    body: { code: 'insufficient_scope', detail: /menus:read/ },
  });
});

t.test('endpoints of a disabled client stop at once, say why, and continue when it is enabled', async (t) => {
  const { api, client, database } = await startTestService(t, { worker: {} });
  const receiver = await startReceiver(t);
  const till = await client();
  const { webhook_id } = (await till.post('/webhooks', { url: receiver.url })).body.data;
  const [item] = await demoItems(api);
  const path = `/webhooks/${webhook_id}`;
  await api.post(`${item.path}/toggle`);
  await receiver.until(1);
  const before = { 'if-none-match': String((await api.get(path)).headers['etag']) };

  await set(database, till, { disabled_at: sql`now()` });
  await api.post(`${item.path}/toggle`);
  await eventually('the event is queued', async () => {
    const { data } = (await api.get(`${path}/deliveries`)).body;
    return data.length === 2 && data[0].state === 'pending';
  });
  const stopped = await api.get(path, { headers: before });
  t.match(stopped, {
    status: 200,
    body: { data: { enabled: false, disabled_reason: 'client_disabled', disabled_at: /^20/ } },
  });
  t.match(
    (await api.put(path, { enabled: true })).body.data,
    { enabled: false, disabled_reason: 'client_disabled' },
    'nobody enables it over its client',
  );

  await set(database, till, { scopes: sql`array['webhooks:manage']`, disabled_at: sql`null` });
  t.match((await api.get(path)).body.data, { enabled: false, disabled_reason: 'scope_removed' });
  t.equal(receiver.deliveries.length, 1, 'nothing was sent meanwhile');

  await set(database, till, { scopes: sql`array['menus:write']` });
  await receiver.until(2);
  t.match((await api.get(path)).body.data, { enabled: true, disabled_reason: null, disabled_at: null });
});

t.test('a narrowed grant narrows what is queued and what is sent', async (t) => {
  const { api, client, database } = await startTestService(t, { worker: {} });
  const receiver = await startReceiver(t);
  const till = await client();
  const { webhook_id } = (await till.post('/webhooks', { url: receiver.url, enabled: false })).body.data;
  const [here] = await demoItems(api);
  const { data: locations } = (await api.get('/locations')).body;
  const elsewhere = locations.find(
    (one: { location_id: number }) => one.location_id !== here.location_id,
  ).location_id;
  const [menu] = (await api.get(`/menus?location_id=${elsewhere}`)).body.data;
  await api.post(`${here.path}/toggle`);
  await eventually('it is queued', async () => {
    return (await api.get(`/webhooks/${webhook_id}/deliveries`)).body.data.length === 1;
  });

  await set(database, till, { location_ids: sql`array[${elsewhere}::bigint]` });
  await api.post(`${here.path}/toggle`);
  await api.post(`/menus/${menu.menu_id}/toggle`);
  await api.put(`/webhooks/${webhook_id}`, { enabled: true });
  const [arrived] = await receiver.until(1);
  t.match(arrived?.event, { type: 'menu.toggled', location_id: elsewhere });
  const log = await eventually('the log has both', async () => {
    const { data } = (await api.get(`/webhooks/${webhook_id}/deliveries`)).body;
    return data.every(({ state }: { state: string }) => ['failed', 'delivered'].includes(state)) && data;
  });
  t.match(log, [
    { event_type: 'menu.toggled', state: 'delivered' },
    {
      event_type: 'item.toggled',
      state: 'failed',
      last_attempt: { status: null, error: 'the client may no longer read this location' },
    },
  ]);
  t.equal(log.length, 2, 'what was changed after the narrowing was not even queued');
  t.equal(receiver.deliveries.length, 1);
  const { failing_since, consecutive_failures } = await database
    .selectFrom('webhook')
    .select(['failing_since', 'consecutive_failures'])
    .where('webhook_id', '=', webhook_id)
    .executeTakeFirstOrThrow();
  t.same([failing_since, consecutive_failures], [null, 0], 'which is no failure of the endpoint');
});

t.test('an endpoint from before clients were recorded still works', async (t) => {
  const { api, database } = await startTestService(t, { worker: {} });
  const receiver = await startReceiver(t);
  await api.post('/webhooks', { url: receiver.url });
  await database.updateTable('webhook').set({ client_id: null }).execute();
  const [item] = await demoItems(api);
  await api.post(`${item.path}/toggle`);
  await receiver.until(1);
  const [shown] = (await api.get('/webhooks')).body.data;
  t.match(shown, { client_id: null, enabled: true });
});

async function set(database: Database, { credentials }: Api, values: object): Promise<void> {
  await database.updateTable('client').set(values).where('client_id', '=', credentials.client_id).execute();
}
