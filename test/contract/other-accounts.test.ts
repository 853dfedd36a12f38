import { randomUUID } from 'node:crypto';
import t from 'tap';
import { allScopes, impliedScopes } from '../../src/http/scopes.ts';
import type { Api, ApiResponse } from '../support/api.ts';
import { checksumOf } from '../support/checksum.ts';
import { makeTree } from '../support/records.ts';
import { startTestService } from '../support/service.ts';
import {
  callsOnRecords,
  type ExampleCall,
  existingRecords,
  type Ids,
  pathOf,
  securedCalls,
} from './example-calls.ts';

/*
 * Every operation of the contract, called by somebody who may not: what it answers, and that not a byte of the account
 * that it is about has changed.
 */

t.test('another account: each place of each path, alone and with an Idempotency-Key', async (t) => {
  const service = await startTestService(t);
  const victim = await existingRecords(service);
  const { account_id } = service.api.credentials;
  const stranger = await service.client({ account: 'Another restaurant group' });
  const own = await recordsOf(stranger);
  const before = await checksumOf(service.database, account_id);
  for (const call of callsOnRecords) {
    const known = { ...victim, ...own };
    for (const name of [...call.parameters, 'all']) {
      const ids = name === 'all' ? victim : { ...known, [name]: victim[name] ?? '' };
      for (const headers of [{}, { 'idempotency-key': randomUUID() }]) {
        const response = await send(stranger, call, ids, { headers });
        t.ok(
          [403, 404].includes(response.status),
          `${call.id} with the ${name} of another account: ${response.status}`,
        );
      }
    }
  }
  t.strictSame(await checksumOf(service.database, account_id), before);
});

t.test('another account: ids in the body reach nothing, and no field moves a record there', async (t) => {
  const service = await startTestService(t);
  const victim = await existingRecords(service);
  const { account_id } = service.api.credentials;
  const stranger = await service.client({ account: 'Another restaurant group' });
  const own = await recordsOf(stranger);
  const before = await checksumOf(service.database, account_id);
  for (const call of securedCalls.filter(({ body }) => body?.mediaTypes.includes('application/json'))) {
    const example = JSON.parse(call.example?.text ?? '{}');
    const pointed = await send(stranger, call, { ...victim, ...own }, { body: withIds(example, victim) });
    t.ok(pointed.status < 500, `${call.id}: ${pointed.status}`);
    for (const field of ['account_id', 'version', 'granted_location_ids']) {
      const body = { ...example, [field]: account_id };
      const response = await send(service.api, call, victim, { body });
      t.equal(response.status, 422, `${call.id} ${field}`);
      const fault = response.body.errors.find((one: { field: string }) => one.field === `/${field}`);
      t.equal(fault?.code, 'unknown', `${call.id} ${field}`);
    }
  }
  t.strictSame(await checksumOf(service.database, account_id), before);
});

t.test('another account: lists show nothing of this one, whatever they are asked', async (t) => {
  const service = await startTestService(t);
  const victim = await existingRecords(service);
  const stranger = await service.client({ account: 'Another restaurant group' });
  for (const call of securedCalls.filter(
    ({ id, parameters }) => id.startsWith('list') && parameters.length === 0,
  )) {
    const filters = ['', ...Object.entries(victim).map(([name, id]) => `?${name}=${id}`)];
    for (const filter of filters) {
      const response = await stranger.get(call.path + filter);
      t.ok(response.status === 422 || response.body.data.length === 0, `${call.id}${filter}`);
    }
  }
});

t.test('a client without the scope: every operation', async (t) => {
  const service = await startTestService(t);
  const ids = await existingRecords(service);
  const { account_id } = service.api.credentials;
  const clients = await Promise.all(
    allScopes.map(async (scope) => ({ scope, api: await service.client({ scopes: [scope] }) })),
  );
  const before = await checksumOf(service.database, account_id);
  for (const call of securedCalls) {
    const without = clients.filter(
      ({ scope }) => !call.security.some((scopes) => scopes.every((one) => impliedScopes([scope]).has(one))),
    );
    t.equal(without.length > 0, call.id !== 'getCurrentClient', `${call.id} is not for everybody`);
    for (const { scope, api } of without) {
      for (const headers of [{}, { 'idempotency-key': randomUUID() }]) {
        const response = await send(api, call, ids, { headers });
        t.match(
          response,
          { status: 403, body: { code: 'insufficient_scope' } },
          `${call.id} with ${scope} only`,
        );
      }
    }
  }
  t.strictSame(await checksumOf(service.database, account_id), before);
});

/** Records of the client's own, as far as it can make them; by the name of the path parameter. */
async function recordsOf(api: Api): Promise<Ids> {
  const { location, menu, category, item } = await makeTree(api);
  const webhook = await api.post('/webhooks', { url: 'https://127.0.0.1:9/', enabled: false });
  const { webhook_id } = webhook.body.data;
  const ids = { ...item, ...category, ...menu, ...location, webhook_id };
  const names = ['location_id', 'menu_id', 'category_id', 'item_id', 'webhook_id'];
  return Object.fromEntries(names.map((name) => [name, String(ids[name])]));
}

function send(
  api: Api,
  call: ExampleCall,
  ids: Ids,
  { headers = {}, body }: { headers?: Record<string, string>; body?: unknown },
): Promise<ApiResponse> {
  const text = body === undefined ? call.example?.text : JSON.stringify(body);
  return api.call(call.method, pathOf(call, ids), {
    ...(text !== undefined && { body: text }),
    headers: { ...headers, ...(call.example && { 'content-type': call.example.mediaType }) },
  });
}

/** The body with every id of a record replaced by that of the given records. */
function withIds(body: unknown, ids: Ids, name = ''): unknown {
  const singular = name.endsWith('_ids') ? name.slice(0, -1) : name === 'items' ? 'item_id' : name;
  if (typeof body === 'number' && ids[singular]) return Number(ids[singular]);
  if (Array.isArray(body)) return body.map((one) => withIds(one, ids, name));
  if (typeof body !== 'object' || body === null) return body;
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [key, withIds(value, ids, key)]));
}
