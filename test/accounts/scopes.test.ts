import t from 'tap';
import { type OperationId, operations } from '../../generated/operations.ts';
import type { Scope } from '../../src/http/scopes.ts';
import { eventually } from '../support/eventually.ts';
import { startTestService } from '../support/service.ts';

// Which single scope lets a client do what (createWebhook takes two), written down apart from the contract, which the service is wired by.
const permitted: Record<Scope, RegExp> = {
  'menus:read': /^(list|get|search|export|price)(?!Webhook|Deliver|Replay)/,
  'menus:write':
    /^(list|get|search|export|price|create|update|delete|toggle|reorder|import|set(Location|Modifier)?Availability|set(Item|Modifier)ModifierGroups)(?!Webhook|Deliver|Replay)/,
  'availability:write':
    /^(toggle(Item|Menu|Modifier)|set(Location|Modifier)?Availability|update(Item|Modifier)|getCurrentClient)$/,
  'webhooks:manage': /(?<!create)Webhook|Deliver|Replay|getCurrentClient/,
};

t.test('each scope alone permits its operations and no other', async (t) => {
  const service = await startTestService(t);
  const nowhere = '9007199254740991';
  for (const [scope, operationIds] of Object.entries(permitted)) {
    const api = await service.client({ scopes: [scope as Scope] });
    for (const [id, { method, path, security }] of Object.entries(operations)) {
      if (security.length === 0) continue;
      // Without a body and on no record, so that what is permitted changes nothing.
      const response = await api.call(method, path.replaceAll(/{\w+}/g, nowhere));
      const refused = response.status === 403 && response.body.code === 'insufficient_scope';
      t.equal(!refused, operationIds.test(id as OperationId), `${id} with ${scope}`);
    }
  }
});

t.test('availability:write suffices for an update of nothing but availability', async (t) => {
  const service = await startTestService(t);
  const { menu_id } = (await service.api.get('/menus?limit=1')).body.data[0];
  const { item_id, price } = (await service.api.get(`/menus/${menu_id}/items?limit=1`)).body.data[0];
  const path = `/menus/${menu_id}/items/${item_id}`;
  const kitchen = await service.client({ scopes: ['availability:write'] });
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();

  const off = await kitchen.put(path, { is_available: false, unavailable_until: tomorrow });
  t.match(off, { status: 200, body: { data: { is_available: false, unavailable_until: tomorrow } } });
  t.equal((await kitchen.put(path, { unavailable_until: null })).status, 200);
  const on = await kitchen.put(path, { is_available: true });
  t.match(on, { status: 200, body: { data: { is_available: true } } });

  for (const body of [{ price: price + 1 }, { is_available: false, price: price + 1 }, { name: 'Free' }]) {
    const response = await kitchen.put(path, body);
    t.match(response, { status: 403, body: { title: 'Forbidden', code: 'insufficient_scope' } });
  }
  const after = (await service.api.get(path)).body.data;
  t.match(after, { price, is_available: true }, 'nothing of a refused update is done');
});

t.test('a token has no more than the scopes that were requested', async (t) => {
  const service = await startTestService(t);
  const { client_id, client_secret } = service.api.credentials;
  const form = { grant_type: 'client_credentials', client_id, client_secret, scope: 'menus:read' };
  const body = new URLSearchParams(form).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const response = await service.api.call('POST', '/oauth/token', { body, headers, token: null });
  const token = response.body.access_token;
  t.equal((await service.api.get('/menus', { token })).status, 200);
  t.equal((await service.api.get('/webhooks', { token })).status, 403);
});

t.test('a scope that is taken from a client is gone from its tokens within about a second', async (t) => {
  const service = await startTestService(t);
  const api = await service.client();
  const { client_id } = api.credentials;
  t.equal((await api.get('/webhooks')).status, 200);
  const client = service.database.updateTable('client').where('client_id', '=', client_id);
  await client.set({ scopes: ['menus:read'] }).execute();
  const taken = performance.now();
  await eventually('it is refused', async () => (await api.get('/webhooks')).status === 403);
  t.ok(performance.now() - taken < 5_000);
  t.equal((await api.get('/menus')).status, 200, 'the others stay');
});

t.test('the tokens of a disabled client are refused within about a second', async (t) => {
  const service = await startTestService(t);
  const api = await service.client();
  const { client_id } = api.credentials;
  t.equal((await api.get('/menus')).status, 200);
  const client = service.database.updateTable('client').where('client_id', '=', client_id);
  await client.set({ disabled_at: new Date() }).execute();
  const disabled = performance.now();
  const refused = await eventually('it is refused', async () => {
    const response = await api.get('/menus');
    return response.status === 401 && response;
  });
  t.ok(performance.now() - disabled < 5_000);
  t.match(refused.headers['www-authenticate'], /^Bearer error="invalid_token"/);
  t.equal((await service.api.get('/menus')).status, 200, 'other clients of the account go on');
});
