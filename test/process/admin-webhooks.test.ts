import t from 'tap';
import { done } from '../support/admin.ts';
import { environmentOf } from '../support/process.ts';
import { startTestService } from '../support/service.ts';

t.test('an operator finds the endpoints of a client, and why they are off', async (t) => {
  const { connection, client } = await startTestService(t);
  const env = environmentOf(connection);
  const [till, kiosk] = [await client(), await client()];
  const url = 'https://hooks.example.com/';
  const mine = (await till.post('/webhooks', { url, event_types: ['item.*'] })).body.data.webhook_id;
  await till.post('/webhooks', { url, enabled: false });
  await kiosk.post('/webhooks', { url });

  const { client_id } = till.credentials;
  const listed = await done(t, env, 'list-webhooks', '--client', client_id);
  t.match(listed, [
    { webhook_id: mine, client_id, account: 'Demo', url, event_types: ['item.*'], disabled_reason: null },
    { client_id, event_types: [], disabled_reason: 'paused' },
  ]);
  t.equal(listed.length, 2);
  t.equal((await done(t, env, 'list-webhooks')).length, 3);
  t.same(await done(t, env, 'list-webhooks', '--account', 'Acme'), []);

  await done(t, env, 'disable-client', client_id);
  const off = await done(t, env, 'list-webhooks', '--account', 'Demo');
  t.same(
    off.map((one: { disabled_reason: string }) => one.disabled_reason),
    ['client_disabled', 'client_disabled', null],
  );
  await done(t, env, 'enable-client', client_id);
  await done(t, env, 'update-client', client_id, '--scopes', 'webhooks:manage');
  t.match(await done(t, env, 'list-webhooks', '--client', client_id), [
    { disabled_reason: 'scope_removed' },
    {},
  ]);
});
