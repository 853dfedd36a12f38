import t from 'tap';
import { bodyLimit } from '../../src/contract/bodies.ts';
import { type ApiResponse, type CallOptions, send } from '../support/api.ts';
import { startTestService } from '../support/service.ts';

t.test('a call with every error is told one at a time, in the order of the contract', async (t) => {
  const service = await startTestService(t, { rateLimitPerMinute: 10 });
  const powerless = await service.client({ scopes: ['webhooks:manage'] });
  const exhausted = await service.client({ scopes: ['webhooks:manage'] });
  for (let sent = 0; sent < 10; sent++) await exhausted.get('/webhooks');
  const stranger = await service.client({ account: 'Another restaurant group' });
  const { menu_id } = (await service.api.get('/menus')).body.data[0];
  const { item_id } = (await service.api.get(`/menus/${menu_id}/items`)).body.data[0];

  const token = (api: typeof powerless) =>
    api.token().then((value) => ({ authorization: `Bearer ${value}` }));
  const call = {
    method: 'PATCH',
    path: '/api/v1/menus/9007199254740991/items/1/nowhere',
    headers: { 'content-type': 'text/plain', 'if-match': '"0"' } as Record<string, string>,
    body: 'x'.repeat(bodyLimit + 1),
  };
  const respondAfter = async (mended: Partial<typeof call>) => {
    Object.assign(call, { ...mended, headers: { ...call.headers, ...mended.headers } });
    const { status, body } = await send(service.url, call.method, call.path, call.headers, call.body);
    return [status, body.code];
  };

  t.strictSame(await respondAfter({}), [404, 'not_found'], 'the path');
  const path = '/api/v1/menus/9007199254740991/items/1';
  t.strictSame(await respondAfter({ path }), [405, 'method_not_allowed'], 'the method');
  t.strictSame(await respondAfter({ method: 'PUT' }), [401, 'unauthorized'], 'the token');
  t.strictSame(await respondAfter({ headers: await token(exhausted) }), [429, 'rate_limited'], 'the quota');
  t.strictSame(
    await respondAfter({ headers: await token(powerless) }),
    [403, 'insufficient_scope'],
    'the scope',
  );
  t.strictSame(
    await respondAfter({ headers: await token(stranger) }),
    [415, 'unsupported_media_type'],
    'the media type',
  );
  const json = { 'content-type': 'application/json' };
  t.strictSame(await respondAfter({ headers: json }), [413, 'payload_too_large'], 'the size');
  t.strictSame(await respondAfter({ body: '{"price":-1}' }), [422, 'parameter_error'], 'the content');
  t.strictSame(await respondAfter({ body: '{"price":7}' }), [404, 'not_found'], 'the record');
  const existing = `/api/v1/menus/${menu_id}/items/${item_id}`;
  t.strictSame(await respondAfter({ path: existing }), [403, 'forbidden'], 'whose it is');
  const own = await token(service.api);
  t.strictSame(await respondAfter({ headers: own }), [412, 'precondition_failed'], 'the precondition');
  const { 'if-match': _, ...unconditional } = call.headers;
  const done = await send(service.url, 'PUT', existing, unconditional, call.body);
  t.match(done, { status: 200, body: { data: { price: 7, version: 2 } } }, 'and at last the operation');
});

t.test('an unknown path is unknown with and without a token, whatever is sent', async (t) => {
  const { api } = await startTestService(t);
  const bodies: CallOptions[] = [
    {},
    { body: '{', headers: { 'content-type': 'application/json' } },
    { body: 'x', headers: { 'content-type': 'text/plain' } },
    { body: 'x'.repeat(bodyLimit + 1), headers: { 'content-type': 'application/json' } },
  ];
  const paths = [
    '/nothing',
    '/menus/',
    '//nothing',
    '//api/v2/menus',
    '//api/v1',
    '/MENUS',
    '/menus/1/items/2/3',
  ];
  for (const path of paths) {
    for (const options of bodies) {
      for (const token of [{}, { token: null }, { token: 'garbage' }]) {
        const response: ApiResponse = await api.call('POST', path, { ...options, ...token });
        t.match(response, { status: 404, body: { title: 'Record Not Found', code: 'not_found' } }, path);
      }
    }
  }
});
