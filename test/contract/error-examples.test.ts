import { sql } from 'kysely';
import t from 'tap';
import document from '../../generated/openapi.json' with { type: 'json' };
import type { ApiResponse } from '../support/api.ts';
import { startDatabaseProxy } from '../support/database-proxy.ts';
import { eventually } from '../support/eventually.ts';
import { whileItemsAreLocked } from '../support/locked-items.ts';
import { startTestService } from '../support/service.ts';
import { type Json, startExampleWorld } from './example-world.ts';

t.test('every example of an error is what the service says, except for the request it names', async (t) => {
  const proxied: { proxy?: Awaited<ReturnType<typeof startDatabaseProxy>> } = {};
  const world = await startExampleWorld(t);
  const { api, database } = world.service;
  const item = '/menus/7/items/42';
  const replay = { since: '2026-03-14T18:00:00Z' };
  const form = (
    fields: Record<string, string>,
    secret = api.credentials.client_secret,
    path = '/oauth/token',
  ) =>
    api.call('POST', path, {
      token: null,
      body: new URLSearchParams({
        client_id: api.credentials.client_id,
        client_secret: secret,
        ...fields,
      }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  const reader = await world.service.client({ scopes: ['menus:read'] });

  const provoked: Record<string, () => Promise<ApiResponse>> = {
    BadRequestProblem: () =>
      api.post(`${item}/toggle`, undefined, { headers: { 'idempotency-key': 'k'.repeat(129) } }),
    ConcurrencyLimitedProblem: async () => {
      const { api, database } = await startTestService(t);
      const send = () => api.put('/menus/1/content?dry_run=true', { data: { categories: [] } });
      return whileItemsAreLocked(database, send, 2, send);
    },
    ConflictProblem: async () => {
      await database.updateTable('replay').set({ until: 'ffffffff-ffff-7fff-bfff-ffffffffffff' }).execute();
      return api.post('/webhooks/5/replay', replay);
    },
    ForbiddenProblem: async () => (await world.service.client({ account: 'Another group' })).get(item),
    IdempotencyConflictProblem: async () => {
      const headers = { 'idempotency-key': 'the-same' };
      const [first, reply] = await database.transaction().execute(async (transaction) => {
        await sql`lock table item in access exclusive mode`.execute(transaction);
        const first = api.post(`${item}/toggle`, undefined, { headers });
        await eventually('the first waits', async () => {
          const { rows } = await sql`select from pg_stat_activity
            where wait_event_type = 'Lock' and datname = current_database()`.execute(database);
          return rows.length > 0;
        });
        return [first, await api.post(`${item}/toggle`, undefined, { headers })] as const;
      });
      await first;
      return reply;
    },
    IdempotencyKeysExhaustedProblem: async () => {
      const { api } = await startTestService(t, { keptResponses: { keys: 1, megabytes: 1 } });
      const path = '/menus/1/items/1/toggle';
      await api.post(path, undefined, { headers: { 'idempotency-key': 'the first' } });
      return api.post(path, undefined, { headers: { 'idempotency-key': 'another' } });
    },
    InvalidClient: () => form({ grant_type: 'client_credentials' }, 'wrong'),
    InvalidScope: async () => {
      const { client_id, client_secret } = reader.credentials;
      return form({ grant_type: 'client_credentials', client_id, client_secret, scope: 'webhooks:manage' });
    },
    LocationNotEmptyProblem: () => api.delete('/locations/1'),
    ModifierGroupInUseProblem: () => api.delete('/locations/1/modifier-groups/5'),
    ModifierRequiredProblem: async () => {
      await api.put('/locations/1/modifier-groups/6', { min_selections: 2 });
      return api.delete('/locations/1/modifier-groups/6/modifiers/33');
    },
    NotAcceptableProblem: () => api.get('/menus/7/content', { headers: { accept: 'image/png' } }),
    NotFoundProblem: () => api.get('/menus/6/items/42'),
    ParameterErrorProblem: () => api.put(item, { price: 4.5055, colour: 'red' }),
    PayloadTooLargeProblem: () => api.put(item, { description: 'x'.repeat(1 << 20) }),
    PreconditionFailedProblem: () => api.put(item, { price: 5 }, { headers: { 'if-match': '"0"' } }),
    ServiceUnavailableProblem: async () => {
      const { api } = await startTestService(t, {
        connect: async (connection) => {
          proxied.proxy = await startDatabaseProxy(t, connection);
          return proxied.proxy.connection;
        },
      });
      await api.token();
      await proxied.proxy?.cut();
      return api.get('/menus');
    },
    TokenOfAnotherClient: async () => form({ token: await reader.token() }, undefined, '/oauth/revoke'),
    TooManyRequestsProblem: async () => {
      const { api } = await startTestService(t, { rateLimitPerMinute: 1 });
      await api.get('/menus');
      return api.get('/menus');
    },
    UnauthorizedProblem: () => api.get('/menus', { token: 'garbage' }),
    UnexpectedErrorProblem: async () => {
      const other = await startTestService(t);
      await sql`drop table item cascade`.execute(other.database);
      // Past the check of answers, as no operation documents a 500 by its number.
      const response = await fetch(`${other.url}/api/v1/menus/1/items/1`, {
        headers: { authorization: `Bearer ${await other.api.token()}` },
      });
      return { body: await response.json() } as ApiResponse;
    },
    UnsupportedGrantType: () => form({ grant_type: 'password' }),
    UnsupportedMediaTypeProblem: () =>
      api.call('PUT', item, { body: 'x', headers: { 'content-type': 'text/plain' } }),
  };

  const errors = Object.entries<Json>(document.components.examples).filter(
    ([, { value }]) => value.error !== undefined || String(value.type).startsWith('urn:'),
  );
  t.strictSame(errors.map(([name]) => name).sort(), Object.keys(provoked).sort());
  for (const [name, { value }] of errors) {
    const reply = await provoked[name]?.();
    t.strictSame(comparable(reply?.body), comparable(value), `${name} is what the service says`);
  }
});

t.test('an example that words an error differently from the service is found', async (t) => {
  const { type, ...rest } = document.components.examples.NotFoundProblem.value;
  const { service } = await startExampleWorld(t);
  const { body } = await service.api.get('/menus/6/items/42');
  t.strictSame(comparable(body), comparable({ ...rest, type }));
  t.notSame(comparable(body), comparable({ ...rest, type, detail: 'There is no item 42 in menu 6.' }));
  t.notSame(comparable(body), comparable(rest));
});

/** Without the request it names, and without the seconds to wait, which differ from one moment to the next. */
function comparable({ request_id: _, detail, ...rest }: Json): Json {
  return { ...rest, ...(detail && { detail: detail.replace(/\d+ s\./, 'n s.') }) };
}
