import { sql } from 'kysely';
import t from 'tap';
import { allScopes } from '../../src/http/scopes.ts';
import { makeLocation } from '../support/records.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(t, { rateLimitPerMinute: 777, webhooksPerAccount: 7 });

t.test('tells a client its account, scopes, locations and limits', async (t) => {
  const { api } = service;
  const { status, body } = await api.get('/oauth/client');
  t.equal(status, 200);
  t.same(body, {
    data: {
      client_id: api.credentials.client_id,
      account_id: api.credentials.account_id,
      account_name: 'Demo',
      scopes: [...allScopes].sort(),
      location_ids: null,
      limits: { requests_per_minute: 777, webhooks_per_account: 7 },
    },
  });
});

t.test('shows the grant, and the scopes with those that they include', async (t) => {
  const { location_id } = await makeLocation(service.api);
  const bound = await service.client({ locations: [location_id], scopes: ['menus:write'] });
  t.match((await bound.get('/oauth/client')).body.data, {
    location_ids: [location_id],
    scopes: ['availability:write', 'menus:read', 'menus:write'],
  });
  const none = await service.client({ locations: [] });
  t.match((await none.get('/oauth/client')).body.data, { location_ids: [] });
});

t.test('any scope suffices, even if none is left', async (t) => {
  for (const scope of allScopes) {
    const client = await service.client({ scopes: [scope], account: '鮨 & Söhne <№ 1>' });
    const { status, body } = await client.get('/oauth/client');
    t.equal(status, 200, scope);
    t.equal(body.data.account_name, '鮨 & Söhne <№ 1>');
    t.ok(body.data.scopes.includes(scope));
  }
  const client = await service.client({ scopes: ['menus:read'] });
  await client.token();
  await sql`update client set scopes = '{webhooks:manage}'
    where client_id = ${client.credentials.client_id}`.execute(service.database);
  t.match(await client.get('/oauth/client'), { status: 200, body: { data: { scopes: [] } } });
  t.equal((await client.get('/menus')).status, 403);
});

t.test('requires a token, and counts as a request', async (t) => {
  t.equal((await service.api.get('/oauth/client', { token: null })).status, 401);
  t.equal((await service.api.get('/oauth/client', { token: 'garbage' })).status, 401);
  const { headers } = await service.api.get('/oauth/client');
  t.match(headers['ratelimit-policy'], '"default";q=777;w=60');
});
